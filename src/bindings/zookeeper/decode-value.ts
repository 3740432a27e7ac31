import { CorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import type { ValueCodec } from './value-codec.ts';

export interface DecodedValue {
  /** The operation that reads the value. */
  readonly operation: string;
  /** Names the value in the error. */
  readonly what: string;
  readonly key?: string;
  /** The code of the error. Default: `INVALID_VALUE` */
  readonly code?: ErrorCode;
}

/**
 * Decodes the bytes of a node. Other programs may write any data there.
 *
 * @throws CorrectableError that names the value
 */
export function decodeValue(
  codec: ValueCodec,
  bytes: Uint8Array,
  { operation, what, key, code = 'INVALID_VALUE' }: DecodedValue,
): unknown {
  try {
    return codec.decode(bytes);
  } catch (cause) {
    const message = `${operation}: ${what} cannot be decoded: ${String(cause)}. Nothing was written. Overwrite it, or pass the codec that wrote it.`;
    throw new CorrectableError(code, message, { key, cause });
  }
}
