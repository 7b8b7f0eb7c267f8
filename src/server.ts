import { errorBody } from '../rest/envelope.ts';
import { createLog } from './log.ts';
import { ConfigError, loadConfig } from './config.ts';
import { welcome } from './first-run.ts';
import { openGateway } from './gateway.ts';
import type { RefusalBody } from './http/early-answers.ts';
import { listen } from './http/server.ts';

// The process: configuration, gateway, listener, and an orderly end.

/** The bundle in dist/ lies as deep as this file. */
const migrations = new URL('../prisma/migrations/', import.meta.url);

/** Both surfaces may be meant by a request that cannot be read: it is answered in the envelope of REST. */
const refusalBody: RefusalBody = (error) => errorBody(error);

/**
 * How long the process may take to stop, in milliseconds: 8 s for requests in flight, the rest to write what is
 * still to be written. Then it leaves, whatever the database does.
 */
const stopTimeoutMs = 11_500;

try {
  const config = loadConfig(process.env);
  const log = createLog(config.logLevel);
  const gateway = await openGateway(config, log, migrations);
  const { host, port, metricsPort, trustProxy: behindProxy } = config;
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
  const stop = async (signal: string) => {
    if (stopping) {
      log.warn({ signal }, 'stopping at once: a second signal came');
      process.exit(1);
    }
    stopping = true;
    log.info({ signal }, 'stopping: finishing what is in flight');
    setTimeout(() => {
      log.error('stopping now: not everything could be finished in time');
      process.exit(1);
    }, stopTimeoutMs).unref();
    gateway.endStreams();
    await Promise.all([welcomed, ...listeners.map(({ close }) => close())]);
    await gateway.close();
    log.info('stopped');
    log.flush(() => process.exit(0));
  };
  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void stop(signal));
  await welcomed;
} catch (error) {
  // A message names the variable to look at; a stack would only hide it.
  const message = error instanceof Error ? error.message : String(error);
  console.error(error instanceof ConfigError ? `Configuration: ${message}` : message);
  process.exit(1);
}
