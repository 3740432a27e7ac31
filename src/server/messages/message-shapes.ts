/**
 * Each kind of message between replicas: its fields, and how much of each there may be. What does not fit is refused
 * before a replica or a log sees it. What nodes of the red log send each other has its shapes beside its engine.
 *
 * The type of the table holds it to all kinds of messages: a new one needs a shape here.
 */
import type { LogMessage } from '../log/log.ts';
import type { LogMessages } from '../log/red-log-engine.ts';
import { OPERATION_PARTS_MAX } from '../records/bounds.ts';
import { OPERATIONS_MAX } from '../records/windows.ts';
import type { SiteMessage, TermMessage } from './envelope.ts';
import {
  anything,
  byKind,
  byOrdinal,
  count,
  flag,
  list,
  record,
  siteOrigin,
  start,
  text,
  tuple,
  wholeFrom,
  word,
} from '../records/shapes.ts';
import type { Shape } from '../records/shapes.ts';

/**
 * Keys of rows, names of clients and what failures say: what clients may choose the length of. It is bounded by the
 * envelope alone (`ENVELOPE_BYTES_MAX`): what its site has taken and another refuses is sent again for ever, and all that
 * comes after it waits.
 */
const TEXT_MAX = 1 << 26;
/** Others that one operation stands on. */
const AFTER_MAX = 4096;

/** A client, and a number that can be counted to, of which the largest has so many digits. */
const NAME = /^.+\/\d{1,16}$/s;

const longText = text(TEXT_MAX);
const ordinalNumber = wholeFrom(1);

/**
 * The name of an operation, `client/number`. Every update has its own before anything of it leaves the site where it was
 * submitted: without one, whoever gets it twice could not know that it is the same.
 */
export const operationName: Shape = (value, origins) =>
  longText(value, origins) ?? (NAME.test(value as string) ? undefined : ': must name an operation, as client/number');

const effect = record({ table: word, key: longText, field: word, action: word }, { value: anything });
const effects = list(effect, OPERATION_PARTS_MAX);

/** Plain data with whatever fields. */
const fields: Shape = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : ': must be an object';

const replyFields = record({}, { value: anything, meta: fields });

/** What has no value is written without it, and is given it back. */
const reply: Shape = (value, origins) => {
  const problem = replyFields(value, origins);
  if (problem === undefined && !Object.hasOwn(value as object, 'value'))
    Object.assign(value as object, { value: undefined });
  return problem;
};

const domainRefusal = record({ name: word }, { data: anything, operation: word });

const failure = record({ code: word, message: longText }, { field: longText, domain: domainRefusal });

const scalar: Shape = (value) =>
  typeof value === 'string' || typeof value === 'number' ? undefined : ': must be a string or a number';

const range = record({ table: word }, { field: word, from: scalar, before: scalar, upTo: scalar });

const blueOperation = record(
  { id: operationName, site: siteOrigin, sequence: ordinalNumber, vector: byOrdinal, effects, reply },
  { shadow: word, hop: count },
);

const redOperation = record(
  {
    kind: word,
    id: operationName,
    site: siteOrigin,
    attempt: ordinalNumber,
    epoch: start,
    snapshot: byOrdinal,
    operation: word,
    reads: list(longText, OPERATION_PARTS_MAX),
    clock: count,
    effects,
    reply,
  },
  {
    shadow: word,
    args: anything,
    after: list(tuple(operationName, ordinalNumber), AFTER_MAX, 1),
    acknowledged: count,
    refusal: failure,
    ranges: list(range, OPERATION_PARTS_MAX),
    created: list(longText, OPERATION_PARTS_MAX),
  },
);

const redRecord = byKind({
  operation: redOperation,
  close: record({ kind: word, id: operationName, site: siteOrigin, failure }),
  marker: record({ kind: word, id: operationName, site: siteOrigin }),
});

const slotDecision = byKind({
  record: record({ kind: word, vector: byOrdinal }, { reply, failure }),
  claim: record({ kind: word, site: siteOrigin, hop: count }),
  handover: record({ kind: word }),
});

const waits: Shape = (value) => (value === 'here' || value === 'pool' ? undefined : ": must be 'here' or 'pool'");

const askedRights = record({ table: word, key: longText, field: word, amount: ordinalNumber }, { waits });

/** Fields of one message that asks for rights. */
const ASKED_MAX = 4096;

const slot = { kind: word, id: operationName, hop: count, by: count };

type Kind = Exclude<(SiteMessage | TermMessage)['kind'], LogMessage['kind']>;

const KINDS: Readonly<Record<Kind, Shape>> = {
  'blue.operations': record({ kind: word, operations: list(blueOperation, OPERATIONS_MAX, 1) }),
  'blue.received': record({ kind: word, sequence: count }),
  'blue.heartbeat': record({ kind: word, sequence: count }),
  'blue.have': record({ kind: word, synced: byOrdinal, asks: flag }),
  'blue.resend': record({ kind: word, origin: siteOrigin, after: count }),
  'slot.ask': record(slot),
  'slot.told': record(slot, { decision: slotDecision }),
  'rights.ask': record({ kind: word, asked: list(askedRights, ASKED_MAX, 1), seen: count }),
  'term.passed': record({ kind: word, term: start }),
};

/** What all messages have to look like, those of the red log included. */
export function messageShape(log: LogMessages): Shape {
  return byKind({ ...KINDS, ...log.shapes(redRecord) });
}
