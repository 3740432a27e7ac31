/** Reads the body of a response; what is cut short or longer than the body is refused before memory is set aside. */
import { ByteReader } from '../../../engine-client/byte-reader.ts';
import { protocolError } from './cql-error.ts';

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
    return this.items(this.short(), 2, () => this.string());
  }

  protected refusal(what: string): Error {
    return protocolError(what);
  }
}
