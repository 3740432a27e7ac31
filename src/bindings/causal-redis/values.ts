/** Values as bytes: JSON in UTF-8. */
import { CorrectableError, check } from '../../correctable/errors.ts';
import { toExactJson } from '../shared/to-json.ts';
import { checkWellFormed } from '../shared/well-formed-text.ts';

const MAX_KEY_BYTES = 1_024;

/** @throws CorrectableError `INVALID_ARGUMENT` for a key that is too long */
export function checkKeySizes(keys: readonly string[]): void {
  for (const key of keys) {
    checkWellFormed(key, 'args.key');
    const bytes = Buffer.byteLength(key);
    const advice = `a key has at most ${MAX_KEY_BYTES} bytes, got ${bytes}. The operation was not executed.`;
    check(bytes <= MAX_KEY_BYTES, 'args.key', advice);
  }
}

/**
 * @throws CorrectableError `INVALID_VALUE` for a value that JSON cannot represent
 *   or would change, and for one that is too long
 */
export function encodeValue(value: unknown, maxBytes: number): Buffer {
  const text = toExactJson(value, { name: 'put', field: 'args.value' });
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return bytes;
  const message = `put: the value has ${bytes.length} bytes as JSON, and maxValueBytes is ${maxBytes}. The value was not written. Split it, or raise maxValueBytes in all processes.`;
  throw new CorrectableError('INVALID_VALUE', message, { field: 'args.value' });
}

export function decodeValue(bytes: unknown): unknown {
  return JSON.parse(Buffer.from(bytes as Uint8Array).toString());
}
