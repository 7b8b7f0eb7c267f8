import { errorBody } from '../rest/envelope.ts';
import { createLog } from './observability/log.ts';
import { ConfigError, configWarnings, loadConfig } from './config.ts';
import { welcome } from './first-run.ts';
import { openGateway } from './gateway.ts';
import type { RefusalBody } from './http/listener/early-answers.ts';
import { listen, requireFreeAddress } from './http/listener/server.ts';

// This is the server process. It reads the configuration, and starts the gateway and the HTTP listener. When it stops,
// it stops both in the right order.

/**
 * The folder of the migrations. The relative path is valid here and in the bundle, because `dist/` and `src/` are in
 * the same folder.
 */
const migrations = new URL('../prisma/migrations/', import.meta.url);

/**
 * The body of the response to a request that cannot be parsed. The gateway cannot know whether the client uses REST or
 * GraphQL, so the body has the form of REST errors.
 */
const refusalBody: RefusalBody = errorBody;

/**
 * How long the process may take to stop, in milliseconds: 8 s for requests in progress, and the rest for records that
 * are not written yet. After this time the process exits, even if the database does not answer.
 */
const stopTimeoutMs = 11_500;

try {
  const config = loadConfig(process.env);
  const log = createLog(config.logLevel);
  for (const warning of configWarnings(config)) log.warn(warning);
  const { host, port, metricsPort, trustProxy: behindProxy } = config;
  await requireFreeAddress({ host, port, portVariable: 'PORT' });
  if (metricsPort !== undefined) {
    await requireFreeAddress({ host, port: metricsPort, portVariable: 'METRICS_PORT' });
  }
  const gateway = await openGateway(config, log, migrations);
  const { app, refuseKnown } = gateway;
  const options = { host, port, portVariable: 'PORT', refusalBody, behindProxy, refuseKnown } as const;
  const listener = await listen(app, options);
  log.info({ url: listener.url }, 'listening');
  const listeners = [listener];
  if (metricsPort !== undefined) {
    const metricsListener = await listen(gateway.metrics.app, {
      host,
      port: metricsPort,
      portVariable: 'METRICS_PORT',
      refusalBody,
    });
    log.info({ url: `${metricsListener.url}/metrics` }, 'serving metrics');
    listeners.push(metricsListener);
  }
  const welcomed = welcome(gateway.database, config, {
    url: listener.url,
    log,
    isTerminal: process.stdout.isTTY,
  });

  let stopping = false;
  let exitCode = 0; // not `process.exitCode`, which the embedded database changes when it closes
  /** Waits until the requests in progress are answered, and exits. */
  const stop = async () => {
    stopping = true;
    setTimeout(() => {
      log.error('stopping now: some requests did not finish in time');
      process.exit(1);
    }, stopTimeoutMs).unref();
    gateway.endStreams();
    await Promise.allSettled([welcomed, ...listeners.map(({ close }) => close())]);
    await gateway.close();
    log.info('stopped');
    log.flush(() => process.exit(exitCode));
  };
  const onSignal = (signal: string) => {
    if (stopping) {
      log.warn({ signal }, 'stopping at once: received a second signal');
      process.exit(1);
    }
    log.info({ signal }, 'stopping: finishing requests in progress');
    void stop();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // After an uncaught error, the state of the process is unknown. The process therefore finishes the requests in
  // progress and exits.
  const onFault = (err: unknown, kind: string) => {
    log.fatal({ err, kind }, 'uncaught error; stopping: finishing requests in progress');
    exitCode = 1;
    if (!stopping) void stop();
  };
  // Node reports unhandled promise rejections to this listener, too.
  process.on('uncaughtException', onFault);
  await welcomed;
} catch (error) {
  // The log omits the stack trace, because the message already names the variable to correct.
  const message = error instanceof Error ? error.message : String(error);
  console.error(error instanceof ConfigError ? `Configuration: ${message}` : message);
  process.exit(1);
}
