/**
 * Reads the body of a response; what is cut short or longer than the body is
 * refused before memory is set aside.
 */
import { ByteReader } from '../../shared/byte-reader.ts';
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
