import { StringDecoder } from 'node:string_decoder';
import { createStructureCheck } from '../src/http/bodies/json.ts';
import { median } from './pairs.ts';

// `npm run bench:structure-check` measures how fast the gateway checks the structure of a large JSON body. A request
// body arrives in chunks, so the benchmark measures the structure check with several chunk sizes.

/**
 * The minimum speed that the structure check of JSON bodies should reach, in megabytes of JSON per second of processor
 * time. If the structure check were slower, it would block other requests for longer than any other step of an import.
 */
const goal = 300;

const rounds = 15;
const partBytes = [64, 1024, 16 * 1024, 64 * 1024, Infinity];

const notes = {
  ASCII: 'Resident of the second floor, "blue" car',
  Arabic: 'ساكن في الطابق الثاني سيارة زرقاء',
};

/** Builds the body of an import request with 10,000 rows. */
const bodyWith = (note: string) =>
  Buffer.from(
    JSON.stringify({
      query: 'mutation ($entries: [WhitelistEntryInput!]!) { importWhitelistEntries { created } }',
      variables: {
        entries: Array.from({ length: 10_000 }, (_, index) => ({
          ...{ plateType: 'DXB', plateCode: 'A', plateNumber: String(index), referenceId: `villa-${index}` },
          ...{ vehicleType: 'suv', note },
        })),
      },
    }),
  );

/** Splits a request body into chunks of text. The gateway also receives a request body in chunks. */
function partsOf(body: Buffer, size: number): string[] {
  const decoder = new StringDecoder('utf8');
  const count = Math.ceil(body.length / size) || 1;
  return Array.from({ length: count }, (_, part) =>
    decoder.write(size === Infinity ? body : body.subarray(part * size, (part + 1) * size)),
  );
}

/**
 * Checks the JSON structure of a request body once, and returns the speed in megabytes per second of processor time.
 */
function speedOf(body: Buffer, size: number): number {
  const parts = partsOf(body, size);
  const faultOf = createStructureCheck();
  const before = process.cpuUsage();
  for (const part of parts) {
    const fault = faultOf(part);
    if (fault) throw new Error(`The body ${fault}`);
  }
  const { user, system } = process.cpuUsage(before);
  return body.length / (user + system);
}

for (const [alphabet, note] of Object.entries(notes)) {
  const body = bodyWith(note);
  for (const size of partBytes) {
    const speed = median(Array.from({ length: rounds }, () => speedOf(body, size)));
    const isMet = speed >= goal;
    if (!isMet) process.exitCode = 1;
    console.log(
      `${alphabet}, ${(body.length / 1e6).toFixed(2)} MB, parts of ${size} bytes: ${speed.toFixed(0)} MB/s${isMet ? '' : ` (goal: ${goal})`}`,
    );
  }
}
