import type { Cluster, Redis } from 'ioredis';

/**
 * Calls the function `late` when Redis has not answered within a time limit. In a busy process, an answer may have
 * arrived in time although the process has not read the answer yet. When a timer is due and answers of Redis have also
 * arrived, Node.js runs the timer before it reads the answers. When the time limit is reached, `whenLate` therefore
 * first lets the process read all answers that have already arrived.
 *
 * @returns a function that the caller must call when the answer of Redis has arrived
 */
export function whenLate(limitMs: number, late: () => void): () => void {
  let answered = false;
  const timer = setTimeout(() => {
    // Between the calls of the outer and the inner `setImmediate` callback, the process reads all answers that have
    // already arrived.
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
