/**
 * Encodes envelopes as a version and a list in MessagePack. A received envelope is checked
 * completely before it is used.
 */
import { PortabilityError } from '../../../protocol/codec/codec.ts';
import * as reader from '../../../protocol/codec/msgpack-reader.ts';
import * as writer from '../../../protocol/codec/msgpack-writer.ts';
import { mixOperation } from '../../log/prefix-digest.ts';
import { isLogMessage } from '../../log/red-log.ts';
import type { LogMessageFormat } from '../../log/red-log-engine.ts';
import { MAX_START } from '../../log/epoch.ts';
import type { Origins } from '../../service/records/origin.ts';
import type { RecordSchema } from '../../log/record-schemas.ts';
import {
  RejectedMessageError,
  findForeignReason,
  type Address,
  type Envelope,
  type SiteMessage,
} from './envelope.ts';
import { createMessageSchema } from './message-schemas.ts';

/**
 * The version of the protocol between sites: of envelopes, and of the requests on links. Two sites
 * use the older of their versions. From the first release on, the version before is read as well,
 * so that one site is upgraded at a time.
 */
export const ENVELOPE_VERSION = 5;

/** The oldest version that this program can read and write. */
export const OLDEST_ENVELOPE_VERSION = 4;

/**
 * The first version with comparisons of rows, as they are now. A site that reads an older one gets
 * none, and compares nothing.
 */
const FIRST_VERSION_WITH_ROWS = 5;

/**
 * A message that does not fit into this many bytes is divided over several envelopes, if it can be.
 * So other messages can be sent in between.
 */
export const MAX_ENVELOPE_PART_BYTES = 1 << 20;
/**
 * Larger envelopes are refused. One operation may need more than `MAX_ENVELOPE_PART_BYTES`, but
 * never as much as this.
 */
export const MAX_ENVELOPE_BYTES = 1 << 26;

/**
 * The maximum of values in an envelope: each item of a list, and each name and value of a map, is
 * one. One encoded byte, such as that of an empty list, may take about fifty bytes in memory.
 * Envelopes with several operations have fewer values, since they have fewer bytes.
 */
export const MAX_ENVELOPE_VALUES = 1 << 21;

/**
 * The depth at which decoding starts to count. It is negative, because values of the application
 * may be nested as deep as in messages of clients, and are nested inside of operations here.
 */
const ENVELOPE_DEPTH = -16;

const MAX_DEPLOYMENT = 256;
const FIELD_COUNT = 9;
/** The index of the time. Integers come before it, and the last of them is the term. */
const SENT_AT_INDEX = FIELD_COUNT - 2;

/** The version, then the envelope. Missing fields are nil. */
type EncodedEnvelope = readonly [
  deployment: string,
  rules: number,
  fromSite: number,
  fromPartition: number,
  toSite: number,
  toPartition: number,
  term: number,
  sentAtMs: number | null,
  message: unknown,
];

export class EnvelopeCodec {
  readonly #log: LogMessageFormat;
  readonly #schema: RecordSchema;

  /** @param log the message format of the red log's engine */
  constructor(log: LogMessageFormat) {
    this.#log = log;
    this.#schema = createMessageSchema(log);
  }

  /**
   * Encodes an envelope. If it is larger than `bytes` and its message has parts, it becomes several
   * envelopes. It becomes none if it is only about rows, and the receiver does not know that.
   *
   * @param version the version that the receiver reads
   * @throws RejectedMessageError `unreadable` if a part that cannot be divided is larger than any
   * envelope may be
   */
  encode(
    envelope: Envelope,
    bytes = MAX_ENVELOPE_PART_BYTES,
    version = ENVELOPE_VERSION,
  ): Uint8Array[] {
    if (version < FIRST_VERSION_WITH_ROWS && isAboutRows(envelope)) return [];
    const encoded = encodeEnvelope(envelope, version);
    if (encoded.length <= bytes) return [encoded];
    const halves = this.#splitMessage(envelope.message);
    if (halves !== undefined)
      return halves.flatMap((message) => this.encode({ ...envelope, message }, bytes, version));
    if (encoded.length <= MAX_ENVELOPE_BYTES) return [encoded];
    throw new RejectedMessageError(
      'unreadable',
      `${encoded.length} bytes are more than an envelope may have`,
    );
  }

  /**
   * Decodes an envelope and checks all of it.
   *
   * @param own the deployment of this site
   * @throws RejectedMessageError `unreadable`, `version` or `content`; `deployment` or `rules` if
   * another deployment has sent it
   */
  decode(bytes: Uint8Array, origins: Origins, own: string): Envelope {
    if (bytes.length > MAX_ENVELOPE_BYTES)
      throw new RejectedMessageError('unreadable', `it has ${bytes.length} bytes`);
    const [version] = bytes;
    if (version === undefined || version < OLDEST_ENVELOPE_VERSION || version > ENVELOPE_VERSION) {
      const readable = `${OLDEST_ENVELOPE_VERSION} to ${ENVELOPE_VERSION}`;
      throw new RejectedMessageError(
        'version',
        `it is written in version ${version}, and ${readable} is read`,
      );
    }
    const written = readEnvelope(bytes);
    if (!isEncodedEnvelope(written))
      throw new RejectedMessageError('unreadable', 'it is no envelope');
    const [
      deployment,
      rules,
      fromSite,
      fromPartition,
      toSite,
      toPartition,
      term,
      sentAtMs,
      message,
    ] = written;
    const [from, to] = [readAddress(fromSite, fromPartition), readAddress(toSite, toPartition)];
    const rejection = findForeignReason({ deployment, rules, from }, own);
    if (rejection !== undefined) throw rejection;
    const problem = this.#schema(message, origins);
    if (problem !== undefined) throw new RejectedMessageError('content', problem, fromSite);
    const envelope = {
      deployment,
      rules,
      from,
      to,
      term,
      message: message as SiteMessage,
    };
    return sentAtMs === null ? envelope : { ...envelope, sentAtMs };
  }

  /** Divides a message into two with the same meaning. Returns `undefined` if it has no parts. */
  #splitMessage(message: Envelope['message']): readonly [SiteMessage, SiteMessage] | undefined {
    if (isLogMessage(message)) return this.#log.split(message);
    if (message.kind !== 'blue.operations' || message.operations.length < 2) return undefined;
    const { operations, digest } = message;
    const middle = operations.length >> 1;
    const head = operations.slice(0, middle);
    const between = digest === undefined ? {} : { digest: head.reduce(mixOperation, digest) };
    return [
      { ...message, operations: head },
      { ...message, operations: operations.slice(middle), ...between },
    ];
  }
}

function isAboutRows({ message: { kind } }: Envelope): boolean {
  return kind === 'rows.request' || kind === 'rows.digest';
}

function encodeEnvelope(envelope: Envelope, version: number): Uint8Array {
  const { deployment, rules, from, to, term, sentAtMs, message } = envelope;
  const written: EncodedEnvelope = [
    deployment,
    rules,
    from.site,
    from.partition,
    to.site,
    to.partition,
    term,
    sentAtMs ?? null,
    message,
  ];
  writer.beginWriting();
  try {
    writer.reserveHead(1);
    writer.writeValue(written, ENVELOPE_DEPTH);
    const bytes = writer.takeWritten();
    bytes[0] = version;
    return bytes;
  } catch (error) {
    writer.rewindWriter();
    throw error;
  }
}

function readEnvelope(bytes: Uint8Array): unknown {
  const content = bytes.subarray(1);
  reader.openFrame(content);
  try {
    // Each value takes at least a byte. So values are counted only in a large envelope.
    if (content.length > MAX_ENVELOPE_VALUES) checkValues();
    const value = reader.readValue(ENVELOPE_DEPTH);
    if (reader.getPosition() === content.length) return value;
  } catch (error) {
    if (!(error instanceof reader.MalformedFrameError || error instanceof PortabilityError))
      throw error;
    throw new RejectedMessageError('unreadable', error.message);
  } finally {
    reader.closeFrame();
  }
  throw new RejectedMessageError('unreadable', 'something follows the envelope');
}

function checkValues(): void {
  const count = reader.countValuesFrom(0, MAX_ENVELOPE_VALUES);
  if (count > MAX_ENVELOPE_VALUES)
    throw new RejectedMessageError('unreadable', `it has more than ${MAX_ENVELOPE_VALUES} values`);
  reader.rewindReader();
}

function isEncodedEnvelope(value: unknown): value is EncodedEnvelope {
  if (!Array.isArray(value) || value.length !== FIELD_COUNT) return false;
  const fields = value as readonly unknown[];
  const [deployment, sentAtMs] = [fields[0], fields[SENT_AT_INDEX]];
  if (typeof deployment !== 'string' || deployment.length > MAX_DEPLOYMENT) return false;
  if (sentAtMs !== null && !(typeof sentAtMs === 'number' && Number.isFinite(sentAtMs)))
    return false;
  for (let index = 1; index < SENT_AT_INDEX; index += 1) {
    const field = fields[index];
    if (!Number.isSafeInteger(field) || (field as number) < 0) return false;
  }
  return (fields[SENT_AT_INDEX - 1] as number) <= MAX_START;
}

/** Reads an address. The message filter checks whether there is such a site. */
function readAddress(site: number, partition: number): Address {
  return { site: site as Address['site'], partition };
}
