/**
 * Reads the body of a response. Truncated bodies and extra bytes are rejected before memory is
 * reserved.
 */
import { ByteReader } from '../../bindings/shared/byte-reader.ts';
import { createProtocolError } from './cql-error.ts';

export class BodyReader extends ByteReader {
  string(): string {
    return this.text(this.short());
  }

  bytes(): Buffer | null {
    const length = this.int();
    return length < 0 ? null : this.raw(length);
  }

  shortBytes(): Buffer {
    return this.raw(this.short());
  }

  stringList(): string[] {
    return this.readItems(this.short(), 2, () => this.string());
  }

  protected createError(description: string): Error {
    return createProtocolError(description);
  }
}
