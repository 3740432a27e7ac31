/** How large an operation may be: what its site has taken must fit into a message to the others. */
import { OPERATION_BYTES_MAX, OPERATION_PARTS_MAX } from '../records/bounds.ts';
import type { Effect } from '../records/effect.ts';
import { ownError } from '../records/own-errors.ts';
import { textBytes, VALUE_BYTES, writtenBytes } from '../../values/size.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Choice, Reply } from '../records/reply.ts';
import type { ReadSet } from './read-set.ts';

/** What came of a run. */
interface Sized {
  readonly reads: ReadSet;
  readonly choice: Choice | undefined;
  readonly reply: Reply;
  readonly refusal?: CorrectableError;
}

/** An effect is an object of five fields at most, with the key once more where a red one brings its row in. */
const EFFECT_BYTES = 12 * VALUE_BYTES;

/** How large one may be. */
interface SizeBounds {
  readonly bytesMax: number;
  readonly partsMax: number;
}

const BOUNDS: SizeBounds = { bytesMax: OPERATION_BYTES_MAX, partsMax: OPERATION_PARTS_MAX };

/**
 * Checks what came of a run of an update.
 *
 * @param bounds those of messages between sites unless given
 * @throws CorrectableError `INVALID_VALUE` with the bound, and the largest part as the field: `effects`, `reads`, `result`,
 * `shadow` (arguments of a shadow operation that makes the reply) or `errors`
 */
export function checkOperationSize({ choice, reads, reply, refusal }: Sized, bounds: SizeBounds = BOUNDS): void {
  const { bytesMax, partsMax } = bounds;
  const isRed = choice?.colour !== 'blue';
  if (isRed) checkReadParts(reads, partsMax);
  const effects = choice === undefined ? 0 : effectsBytes(choice.effects);
  const result = writtenBytes(reply.value) + (reply.meta === undefined ? 0 : writtenBytes(reply.meta));
  const read = isRed ? readBytes(reads) : 0;
  const args = isRed && choice !== undefined ? writtenBytes(choice.args) : 0;
  const errors = refusal === undefined ? 0 : textBytes(refusal.message) + writtenBytes(refusal.domain?.data);
  const bytes = effects + result + read + args + errors;
  if (bytes <= bytesMax) return;
  throw tooLarge({ effects, reads: read, result, shadow: args, errors }, bytes, bytesMax);
}

/** Effects are bounded by their bytes, and rows that come into being by the effects. */
function checkReadParts({ names, ranges }: ReadSet, partsMax: number): void {
  const parts = Math.max(names.size, ranges.length);
  if (parts <= partsMax) return;
  const message = `reads: an operation may have read ${partsMax} fields, rows and intervals, and this one has read ${parts}. Nothing was changed: divide it into several.`;
  throw ownError('INVALID_VALUE', message, 'reads');
}

function effectsBytes(effects: readonly Effect[]): number {
  let bytes = 0;
  for (const { table, key, field, action, value } of effects) {
    bytes += EFFECT_BYTES + 2 * textBytes(key) + textBytes(table) + textBytes(field) + textBytes(action);
    bytes += writtenBytes(value);
  }
  return bytes;
}

function readBytes({ names, ranges }: ReadSet): number {
  let bytes = 0;
  for (const name of names) bytes += textBytes(name);
  for (const range of ranges) bytes += writtenBytes(range);
  return bytes;
}

function tooLarge(parts: Readonly<Record<string, number>>, bytes: number, bytesMax: number): CorrectableError {
  const [[field] = ['effects']] = Object.entries(parts).toSorted(([, a], [, b]) => b - a);
  const message = `${field}: an operation may come to ${bytesMax} bytes between sites, with ${VALUE_BYTES} for each value in it, and this one comes to ${Math.ceil(bytes)}. Nothing was changed: divide it into several.`;
  return ownError('INVALID_VALUE', message, field);
}
