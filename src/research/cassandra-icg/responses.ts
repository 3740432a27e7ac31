/** The bodies of a node's responses. */
import { BodyReader } from './body-reader.ts';
import { readParameters, readRowsMetadata, type Column, type RowsMetadata } from './columns.ts';
import { createProtocolError, type ServerError } from './cql-error.ts';
import type { Frame } from './frames.ts';
import { FRAME_FLAG, OPCODE, RESULT_KIND } from './protocol.ts';

/** Rows whose values have not been read yet. */
export interface RawRows {
  readonly metadata: RowsMetadata;
  readonly rowCount: number;
  /** Positioned at the first value. */
  readonly reader: BodyReader;
}

type ResponseVariant =
  | {
      readonly kind: 'ready' | 'authChallenge' | 'authSuccess' | 'setKeyspace' | 'void';
    }
  | { readonly kind: 'error'; readonly error: ServerError }
  | { readonly kind: 'authenticate'; readonly authenticator: string }
  | {
      readonly kind: 'supported';
      readonly options: ReadonlyMap<string, readonly string[]>;
    }
  | { readonly kind: 'rows'; readonly rows: RawRows }
  | {
      readonly kind: 'prepared';
      readonly id: Buffer;
      readonly parameters: readonly Column[];
    };

export type Response = ResponseVariant & {
  /** The custom payload. `undefined` if there is none. */
  readonly payload: Payload | undefined;
};

type Payload = ReadonlyMap<string, Buffer | null>;

const TRACE_ID_BYTES = 16;

/** @throws CqlError `PROTOCOL` for a malformed body */
export function readResponse({ opcode, flags, body }: Frame): Response {
  if ((flags & FRAME_FLAG.compression) !== 0)
    throw createProtocolError('a compressed frame, which was not requested');
  const reader = new BodyReader(body);
  if ((flags & FRAME_FLAG.tracing) !== 0) reader.raw(TRACE_ID_BYTES);
  // Warnings are for the operator of the node, whose log has them.
  if ((flags & FRAME_FLAG.warning) !== 0) reader.stringList();
  const payload = (flags & FRAME_FLAG.payload) === 0 ? undefined : readPayload(reader);
  return opcode === OPCODE.result
    ? readResult(reader, payload)
    : readOther(opcode, reader, payload);
}

function readPayload(reader: BodyReader): Payload {
  const count = reader.short();
  reader.checkCount(count, 6);
  const payload = new Map<string, Buffer | null>();
  for (let n = 0; n < count; n += 1) payload.set(reader.string(), reader.bytes());
  return payload;
}

function readOther(opcode: number, reader: BodyReader, payload: Payload | undefined): Response {
  switch (opcode) {
    case OPCODE.error:
      return {
        kind: 'error',
        payload,
        error: { code: reader.int(), message: reader.string() },
      };
    case OPCODE.ready:
      return { kind: 'ready', payload };
    case OPCODE.authenticate:
      return { kind: 'authenticate', payload, authenticator: reader.string() };
    case OPCODE.authChallenge:
      return { kind: 'authChallenge', payload };
    case OPCODE.authSuccess:
      return { kind: 'authSuccess', payload };
    case OPCODE.supported: {
      const readOption = (): [string, string[]] => [reader.string(), reader.stringList()];
      return {
        kind: 'supported',
        payload,
        options: new Map(reader.readItems(reader.short(), 4, readOption)),
      };
    }
    default:
      throw createProtocolError(`an answer of the unknown kind ${opcode}`);
  }
}

function readResult(reader: BodyReader, payload: Payload | undefined): Response {
  const kind = reader.int();
  switch (kind) {
    case RESULT_KIND.void:
      return { kind: 'void', payload };
    case RESULT_KIND.rows:
      return {
        kind: 'rows',
        payload,
        rows: {
          metadata: readRowsMetadata(reader),
          rowCount: reader.int(),
          reader,
        },
      };
    case RESULT_KIND.setKeyspace:
      return { kind: 'setKeyspace', payload };
    case RESULT_KIND.prepared:
      // The columns of the rows follow. They come again with the rows.
      return {
        kind: 'prepared',
        payload,
        id: Buffer.from(reader.shortBytes()),
        parameters: readParameters(reader),
      };
    default:
      throw createProtocolError(`a result of the unknown kind ${kind}`);
  }
}
