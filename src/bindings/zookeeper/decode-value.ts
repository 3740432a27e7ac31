import { CODEC_ADVICE, createUnreadableError } from '../shared/unreadable-error.ts';
import type { ValueCodec } from './value-codec.ts';

export interface DecodedValue {
  /** The operation that reads the value. */
  readonly operation: string;
  readonly key?: string;
  /** Names the value in the error. Default: by its key */
  readonly what?: string;
}

/**
 * Decodes the bytes of a node. Other programs may write any data there.
 *
 * @throws CorrectableError that names the value
 */
export function decodeValue(codec: ValueCodec, bytes: Uint8Array, value: DecodedValue): unknown {
  try {
    return codec.decode(bytes);
  } catch (cause) {
    throw createUnreadableError({ ...value, cause, advice: CODEC_ADVICE });
  }
}
