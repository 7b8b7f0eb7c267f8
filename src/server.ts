import { errorBody } from '../rest/envelope.ts';
import { createLog } from './observability/log.ts';
import { ConfigError, configWarnings, loadConfig } from './config.ts';
import { welcome } from './first-run.ts';
import { openGateway } from './gateway.ts';
import type { RefusalBody } from './http/listener/early-answers.ts';
import { listen, requireFreeAddress } from './http/listener/server.ts';

// This file is the entry point of the server process. The server process reads the configuration, and starts the
// gateway and the HTTP listener. When the process stops, it closes the HTTP listener first, and then the gateway.

/**
 * The body of the response to a request that cannot be parsed. The response body has the form of a REST error, because
 * the gateway cannot know whether an unparsable request is for REST or GraphQL.
 */
const refusalBody: RefusalBody = errorBody;

/**
 * The maximum time for stopping the process, in milliseconds. When the process stops, requests in progress have 8 s to
 * end. After these 8 s, the process has at least 3.5 s left. In this time, it waits for the handlers of disconnected
 * clients, writes the last usage records, and closes the database. After `stopTimeoutMs`, the process exits, even if
 * the database does not answer.
 */
const stopTimeoutMs = 11_500;

/**
 * Ends the process if the process receives SIGTERM or SIGINT while it is still starting. In a container, the gateway is
 * process 1. Linux ignores a signal to process 1 if the process has no listener for this signal.
 */
const abandonStart = () => process.exit(0);
process.on('SIGTERM', abandonStart);
process.on('SIGINT', abandonStart);

try {
  const config = loadConfig(process.env);
  const log = createLog(config.logLevel);
  for (const warning of configWarnings(config)) log.warn(warning);
  const { host, port, metricsPort, trustProxy: behindProxy } = config;
  await requireFreeAddress({ host, port, portVariable: 'PORT' });
  if (metricsPort !== undefined) {
    await requireFreeAddress({ host, port: metricsPort, portVariable: 'METRICS_PORT' });
  }
  const gateway = await openGateway(config, log);
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
  let exitCode = 0; // `process.exitCode` is not used, because the embedded database changes it while it closes
  /** Waits until the requests in progress are answered, and then ends the gateway process. */
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
  process.off('SIGTERM', abandonStart).on('SIGTERM', onSignal);
  process.off('SIGINT', abandonStart).on('SIGINT', onSignal);
  // After an uncaught error, the process finishes the requests in progress and exits, because the state of the process
  // is unknown.
  const onFault = (err: unknown, kind: string) => {
    log.fatal({ err, kind }, 'uncaught error; stopping: finishing requests in progress');
    exitCode = 1;
    if (!stopping) void stop();
  };
  // Node.js emits `uncaughtException` also for unhandled promise rejections.
  process.on('uncaughtException', onFault);
  await welcomed;
} catch (error) {
  // The message of a configuration error names the environment variable to correct, so no stack trace is printed.
  const message = error instanceof Error ? error.message : String(error);
  console.error(error instanceof ConfigError ? `Configuration: ${message}` : message);
  process.exit(1);
}
