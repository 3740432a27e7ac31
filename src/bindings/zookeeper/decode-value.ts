import { CorrectableError } from '../../correctable/errors.ts';
import type { ValueCodec } from './value-codec.ts';

/**
 * Decodes the bytes of a node. Other programs may write any data there.
 *
 * @throws CorrectableError `FINAL_FAILED` that names the value
 */
export function decodeValue(
  codec: ValueCodec,
  bytes: Uint8Array,
  { operation, what, key }: { operation: string; what: string; key?: string },
): unknown {
  try {
    return codec.decode(bytes);
  } catch (cause) {
    const message = `${operation}: ${what} cannot be decoded: ${String(cause)}. Nothing was written. Overwrite it, or pass the codec that wrote it.`;
    throw new CorrectableError('FINAL_FAILED', message, { key, cause });
  }
}
