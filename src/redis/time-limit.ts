import type { Cluster, Redis } from 'ioredis';

/**
 * Calls the function `late` when Redis has not answered within a time limit. An answer of Redis may already have
 * arrived within the time limit when a busy process has not read it yet. When a timer is due and answers of Redis have
 * also arrived, Node.js runs the timer before it reads the answers. When the time limit is reached, `whenLate`
 * therefore lets the process read all answers that have already arrived, before it decides whether to call `late`.
 *
 * @returns a function that the caller must call when the answer of Redis has arrived
 */
export function whenLate(limitMs: number, late: () => void): () => void {
  let answered = false;
  const timer = setTimeout(() => {
    // The process calls the outer `setImmediate` callback first, then reads all answers that have already arrived, and
    // then calls the inner callback.
    setImmediate(() => setImmediate(() => !answered && late()));
  }, limitMs);
  return () => {
    answered = true;
    clearTimeout(timer);
  };
}

/**
 * Limits how long each command of a Redis client waits for an answer. A Redis command fails if Redis does not answer
 * within `limitMs` milliseconds. The option `commandTimeout` of ioredis is not sufficient: a command of a busy process
 * could fail although the answer of Redis has already arrived.
 */
export function limitCommands(client: Redis | Cluster, limitMs: number): void {
  const send: Cluster['sendCommand'] = client.sendCommand.bind(client);
  const sendInTime: typeof send = (command, ...destination) => {
    const answered = whenLate(limitMs, () => command.reject(new Error('Command timed out')));
    command.promise.then(answered, answered);
    return send(command, ...destination);
  };
  client.sendCommand = sendInTime;
}
