import { expect, test } from 'vitest';
import { configWarnings, loadConfig } from '../../src/config.ts';

const url = 'postgresql://gateway:secret@db.internal/parking';

/**
 * Returns the environment variables for a gateway. The variable with the name `name` contains the database URL `value`.
 */
const withUrl = (name: string, value: string) => ({ DATABASE_URL: url, [name]: value });

const variables = ['DATABASE_URL', 'DIRECT_DATABASE_URL', 'DATABASE_READ_URL'];

test.each(variables)(
  '%s accepts the parameters for TLS, for a Unix socket and for the application name',
  (name) => {
    for (const parameters of [
      '',
      '?',
      '?sslmode=verify-full&sslrootcert=/etc/ca.pem&sslcert=/etc/client.pem&sslkey=/etc/client.key',
      '?sslmode=require&uselibpqcompat=true&sslnegotiation=direct',
      '?host=/var/run/postgresql&port=6432&user=gateway&password=secret&application_name=gateway-2',
    ]) {
      expect(configWarnings(loadConfig(withUrl(name, url + parameters)))).toEqual([]);
    }
  },
);

test.each(variables)('the gateway logs a warning about parameters in %s that have no effect', (name) => {
  const config = loadConfig(withUrl(name, `${url}?schema=public&sslmode=require&channel_binding=require`));
  expect(configWarnings(config)).toEqual([
    `${name} has parameters without effect: schema, channel_binding; docs/configuration.md names the replacements`,
  ]);
});

test.each([
  // Parameters that would replace settings of the gateway
  ...['statement_timeout=0', 'query_timeout=1', 'options=-c%20search_path%3Dparking', 'ssl=false'],
  'sslmode=verify-full&lock_timeout=0',
])('the gateway refuses a database URL with the parameters %s', (parameters) => {
  for (const name of variables) {
    expect(() => loadConfig(withUrl(name, `${url}?${parameters}`))).toThrow(
      new RegExp(`^${name} must have only these parameters after the question mark: .*sslmode`),
    );
  }
});

test('the configuration error does not show the parameters of a database URL, because they can be a part of a password', () => {
  expect(() => loadConfig({ DATABASE_URL: 'postgresql://user:12?secret=hidden@one/parking' })).toThrow(
    /^DATABASE_URL (?!.*(secret|hidden))/,
  );
});
