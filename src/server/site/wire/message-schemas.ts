/**
 * The schema of each kind of message between sites: its fields and their limits. A message that
 * does not fit is refused before a part or a log gets it. The schemas of the red log's messages
 * are beside its engine. The type of the table contains all kinds of messages, so that a new one
 * needs a schema here.
 */
import type { LogMessage } from '../../log/red-log.ts';
import type { LogMessageFormat } from '../../log/red-log-engine.ts';
import { MAX_ORIGINS, ORIGIN_STATES, Origins } from '../../service/records/origin.ts';
import type { MemberRecord, RedRecord } from '../../service/records/records.ts';
import { MAX_OPERATION_PARTS } from '../../service/records/retention-limits.ts';
import { MAX_OPERATIONS_PER_MESSAGE } from '../../log/send-windows.ts';
import type { Envelope } from './envelope.ts';
import {
  anyObject,
  anyValue,
  oneOfKinds,
  listByOrdinal,
  count,
  digest,
  flag,
  list,
  record,
  recordOf,
  siteOrigin,
  start,
  text,
  tuple,
  integerFrom,
  word,
} from '../../log/record-schemas.ts';
import type { RecordSchema } from '../../log/record-schemas.ts';

/**
 * The maximum length of keys of rows, names of clients and texts of failures, which clients may
 * choose. It is as large as an envelope (`MAX_ENVELOPE_BYTES`). If one site accepted a text that
 * another refuses, it would resend that for ever, and all later entries would wait.
 */
const MAX_TEXT = 1 << 26;
/** The maximum number of operations on which one operation depends. */
const MAX_DEPENDENCIES = 4096;

/** The maximum length of an identifier: a client and the digits of the largest number. */
const OPERATION_NAME = /^.+\/\d{1,16}$/s;

const longText = text(MAX_TEXT);
const ordinalNumber = integerFrom(1);

/**
 * The name of an operation: `client/number`. Every update gets a name before it is sent to other
 * sites, so that a site which receives it twice recognizes it.
 */
export const operationNameSchema: RecordSchema = (value, origins) =>
  longText(value, origins) ??
  (OPERATION_NAME.test(value as string) ? undefined : ': must name an operation, as client/number');

const effect = record(
  { table: word, key: longText, field: word, action: word },
  { value: anyValue },
);
const effects = list(effect, MAX_OPERATION_PARTS);

const replyFields = record({}, { value: anyValue, meta: anyObject });

/** An undefined value is not encoded, so restore it here. */
const reply: RecordSchema = (value, origins) => {
  const problem = replyFields(value, origins);
  if (problem === undefined && !Object.hasOwn(value as object, 'value'))
    Object.assign(value as object, { value: undefined });
  return problem;
};

const domainError = record({ name: word }, { data: anyValue, operation: word });

const failure = record({ code: word, message: longText }, { field: longText, domain: domainError });

const scalar: RecordSchema = (value) =>
  typeof value === 'string' || typeof value === 'number'
    ? undefined
    : ': must be a string or a number';

const range = record({ table: word }, { field: word, from: scalar, before: scalar, upTo: scalar });

const blueOperation = record(
  {
    id: operationNameSchema,
    site: siteOrigin,
    sequence: ordinalNumber,
    vector: listByOrdinal,
    effects,
    reply,
  },
  { shadow: word, hop: count },
);

/** The number of other red logs, beyond any that a deployment may have. */
const MAX_LOGS = 64;

const redOperation = record(
  {
    kind: word,
    id: operationNameSchema,
    site: siteOrigin,
    attempt: ordinalNumber,
    epoch: start,
    snapshot: listByOrdinal,
    operation: word,
    reads: list(longText, MAX_OPERATION_PARTS),
    clock: count,
    effects,
    reply,
  },
  {
    shadow: word,
    args: anyValue,
    dependencies: list(tuple(operationNameSchema, ordinalNumber), MAX_DEPENDENCIES, 1),
    acknowledged: count,
    domainError: failure,
    ranges: list(range, MAX_OPERATION_PARTS),
    created: list(longText, MAX_OPERATION_PARTS),
    partition: ordinalNumber,
    others: list(count, MAX_LOGS),
    holds: list(tuple(count, count), MAX_LOGS),
    proposer: siteOrigin,
  },
);

const globalFields = { kind: word, id: operationNameSchema, site: siteOrigin };

const memberFields = {
  kind: word,
  action: word,
  id: operationNameSchema,
  site: siteOrigin,
};
const directory: RecordSchema = (value, origins) =>
  value === null ? undefined : word(value, origins);
const siteAddress = record({ url: word, cluster: word });
const changeRecord = record(
  { ...memberFields, name: word, directory },
  {
    address: siteAddress,
    leader: siteOrigin,
    leaders: list(siteOrigin, MAX_LOGS),
  },
);
const held = list(tuple(siteOrigin, count, count), MAX_ORIGINS);
const ackRecord = record({ ...memberFields, change: ordinalNumber, held });
const originState: RecordSchema = (value) =>
  ORIGIN_STATES.some((state) => state === value)
    ? undefined
    : `: must be one of ${ORIGIN_STATES.join(', ')}`;
const originDetails = record(
  {},
  {
    kind: word,
    final: record({ sequence: count, stamp: count }),
    directory: word,
    address: siteAddress,
  },
);
const savedOrigin: RecordSchema = (value, origins) => {
  const hasDetails = Array.isArray(value) && value.length > 3;
  const details = hasDetails ? [originDetails] : [];
  return tuple(word, count, originState, ...details)(value, origins);
};
const copyRecord = record({
  ...memberFields,
  partition: ordinalNumber,
  place: ordinalNumber,
  origins: list(savedOrigin, MAX_ORIGINS, 1),
});
const MEMBER_RECORDS: Readonly<Record<MemberRecord['action'], RecordSchema>> = {
  change: changeRecord,
  ack: ackRecord,
  copy: copyRecord,
};
const memberRecord: RecordSchema = (value, origins) => {
  const { action } = value as MemberRecord;
  return (MEMBER_RECORDS[action] ?? changeRecord)(value, origins);
};

/** Names of tables, of fields, and of operations of a service. */
const MAX_PARTS = 1 << 16;
const tableSchema = record(
  { removable: flag, fields: recordOf(word, MAX_PARTS) },
  { partition: word },
);
const serviceVersion = record(
  {
    hash: word,
    tables: recordOf(tableSchema, MAX_PARTS),
    operations: recordOf(word, MAX_PARTS),
    replies: list(word, MAX_PARTS),
  },
  { homes: recordOf(word, MAX_PARTS) },
);

/** The schema of each kind of record. The type of the table requires all kinds. */
const RED_RECORD_SCHEMAS: Readonly<Record<RedRecord['kind'], RecordSchema>> = {
  operation: redOperation,
  close: record(
    { kind: word, id: operationNameSchema, site: siteOrigin, failure },
    { partition: ordinalNumber },
  ),
  marker: record(
    { kind: word, id: operationNameSchema, site: siteOrigin },
    { partition: ordinalNumber },
  ),
  check: record(
    {
      kind: word,
      id: operationNameSchema,
      site: siteOrigin,
      attempt: ordinalNumber,
      snapshot: listByOrdinal,
      reads: list(longText, MAX_OPERATION_PARTS),
    },
    {
      ranges: list(range, MAX_OPERATION_PARTS),
      partition: ordinalNumber,
    },
  ),
  hold: record({ ...globalFields, operation: redOperation }, { partition: ordinalNumber }),
  release: record(
    { ...globalFields, execution: operationNameSchema, home: count },
    { partition: ordinalNumber, stamp: count },
  ),
  abort: record({ ...globalFields, execution: operationNameSchema }, { partition: ordinalNumber }),
  opening: record(
    {
      ...globalFields,
      stamp: count,
      holds: list(record({ operation: redOperation, stamp: count }), MAX_OPERATION_PARTS),
    },
    { partition: ordinalNumber },
  ),
  member: memberRecord,
  activate: record(
    {
      kind: word,
      id: operationNameSchema,
      site: siteOrigin,
      version: record({ rules: ordinalNumber, service: serviceVersion }),
    },
    { partition: ordinalNumber, place: count },
  ),
};

const redRecord = oneOfKinds(RED_RECORD_SCHEMAS);

/** Describes what is wrong with a record of the red log that did not come in a message. */
export function describeRecordProblem(value: unknown): string | undefined {
  return redRecord(value, NO_ORIGINS);
}

const NO_ORIGINS = Origins.create([]);

const slotDecision = oneOfKinds({
  record: record({ kind: word, vector: listByOrdinal }, { reply, failure }),
  claim: record({ kind: word, site: siteOrigin, hop: count }),
  handover: record({ kind: word }),
});

const rightsTarget: RecordSchema = (value) =>
  value === 'here' || value === 'pool' ? undefined : ": must be 'here' or 'pool'";

const rightsRequest = record(
  { table: word, key: longText, field: word, amount: ordinalNumber },
  { target: rightsTarget },
);

/** The maximum of fields in one request for rights. */
const MAX_RIGHTS_FIELDS = 4096;

const keyRange = record({ table: word }, { from: longText, before: longText });

const slot = { kind: word, id: operationNameSchema, hop: count, by: count };

const point = record({ length: count }, { digest });
const logPoints = list(tuple(ordinalNumber, point), MAX_LOGS);

type Kind = Exclude<Envelope['message']['kind'], LogMessage['kind']>;

const MESSAGE_SCHEMAS: Readonly<Record<Kind, RecordSchema>> = {
  'blue.operations': record(
    {
      kind: word,
      operations: list(blueOperation, MAX_OPERATIONS_PER_MESSAGE, 1),
    },
    { digest },
  ),
  'blue.received': record({ kind: word, sequence: count }),
  'blue.heartbeat': record({ kind: word, sequence: count }),
  'blue.have': record({ kind: word, synced: listByOrdinal, isRequest: flag }),
  'blue.resend': record({ kind: word, origin: siteOrigin, after: count }),
  'blue.gone': record({ kind: word, origin: siteOrigin, after: count }),
  'slot.request': record(slot),
  'slot.answered': record(slot, { decision: slotDecision }),
  'rights.request': record({
    kind: word,
    requests: list(rightsRequest, MAX_RIGHTS_FIELDS, 1),
    seenStamp: count,
  }),
  'rows.request': record({
    kind: word,
    range: keyRange,
    seen: listByOrdinal,
    isDetailed: flag,
  }),
  'rows.digest': record(
    { kind: word, range: keyRange, at: listByOrdinal, sum: count },
    { rows: list(tuple(longText, count), MAX_OPERATION_PARTS) },
  ),
  'member.closed': record({
    kind: word,
    final: (value, origins) => (value === null ? undefined : count(value, origins)),
  }),
  'node.hello': record(
    {
      kind: word,
      directory: word,
      generation: count,
      accepted: start,
      own: point,
      known: point,
      isRequest: flag,
    },
    {
      red: point,
      logs: logPoints,
      ownBefore: point,
      redBefore: point,
      logsBefore: logPoints,
      heard: start,
    },
  ),
  'node.fork': record({ kind: word, term: start, reason: word }),
  'node.known': record({ kind: word, term: start, known: point }, { red: point, logs: logPoints }),
  'node.twin': record({ kind: word, term: start, reason: word }),
  'term.superseded': record({ kind: word, term: start }),
};

/** The schemas of all messages, those of the red log included. */
export function createMessageSchema(log: LogMessageFormat): RecordSchema {
  return oneOfKinds({ ...MESSAGE_SCHEMAS, ...log.createSchemas(redRecord) });
}
