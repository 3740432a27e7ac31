/**
 * A service that prints, when it is loaded, how much room V8 gives to young objects: it grows while
 * they are kept.
 */
import { getHeapSpaceStatistics } from 'node:v8';

const MIB = 2 ** 20;
const spaceMib = (): number =>
  (getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0) /
  MIB;

/** The most rounds. If the young generation may grow to 128 MiB, it does so in about a hundred. */
const ROUNDS = 300;

const retained: object[][] = [];
let mostMib = 0;
for (let round = 0; round < ROUNDS && mostMib < 128; round += 1) {
  retained.push(Array.from({ length: 20_000 }, () => ({ round })));
  if (retained.length > 100) retained.splice(0, 20);
  mostMib = Math.max(mostMib, spaceMib());
}
process.stdout.write(`${JSON.stringify({ youngMib: Math.round(mostMib) })}\n`);

export { service } from './durable-service.ts';
