import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A self-signed certificate. */
export interface OwnCertificate {
  file: string;
  keyFile: string;
  remove(): Promise<void>;
}

/** Creates a self-signed TLS certificate for 127.0.0.1 with openssl. */
export async function createCertificate(): Promise<OwnCertificate> {
  const folder = await mkdtemp(join(tmpdir(), 'own-certificate-'));
  const [file, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-keyout', keyFile, '-out', file, '-subj', '/CN=own', '-addext', 'subjectAltName=IP:127.0.0.1'],
  ]);
  return { file, keyFile, remove: () => rm(folder, { recursive: true, force: true }) };
}
