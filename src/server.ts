import { createLog } from './log.ts';
import { ConfigError, loadConfig } from './config.ts';
import { welcome } from './welcome.ts';
import { openGateway } from './gateway.ts';
import { listen } from './listener.ts';

// The process: configuration, gateway, listener, and an orderly end.
try {
  const config = loadConfig(process.env);
  const log = createLog(config.logLevel);
  const gateway = await openGateway(config, log);
  const listener = await listen(gateway.app, config);
  log.info({ url: listener.url }, 'listening');
  const listeners = [listener];
  if (config.metricsPort !== undefined) {
    const address = { host: config.host, port: config.metricsPort };
    const metricsListener = await listen(gateway.metrics.app, address, 'METRICS_PORT');
    log.info({ url: `${metricsListener.url}/metrics` }, 'serving metrics');
    listeners.push(metricsListener);
  }
  const welcomed = welcome(gateway.database, config, listener.url);

  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping: finishing what is in flight');
    gateway.endStreams();
    await welcomed;
    await Promise.all(listeners.map(({ close }) => close()));
    await gateway.close();
    log.info('stopped');
    log.flush(() => process.exit(0));
  };
  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void stop(signal));
  await welcomed;
} catch (error) {
  console.error(error instanceof ConfigError ? `Configuration: ${error.message}` : error);
  process.exit(1);
}
