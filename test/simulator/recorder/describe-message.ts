/** Describes messages between sites in plain words, for readers who do not know the protocol. */
import { formatValue } from '../../../src/server/check/values/format-values.ts';
import type { LogMessage } from '../../../src/server/log/red-log.ts';
import type { SequencedMessage } from '../../../src/server/log/sequenced/sequenced-messages.ts';
import type { Envelope } from '../../../src/server/site/wire/envelope.ts';
import type { Effect } from '../../../src/server/service/records/effect.ts';
import type {
  BlueOperation,
  RedRecord,
  SlotDecision,
} from '../../../src/server/service/records/records.ts';
import { isRed, type AnyOperation } from '../../../src/testing/simulator/checkers/checker.ts';
import {
  isLowWatermark,
  isTransfer,
} from '../../../src/testing/simulator/checkers/low-watermarks.ts';
import type { MessageGroup } from './recorded-run.ts';

type Message = Exclude<Envelope['message'], LogMessage> | SequencedMessage<RedRecord>;
type KindOf = Message['kind'];

export interface DescribedMessage {
  readonly group: MessageGroup;
  readonly text: string;
}

const MAX_NAMED = 3;

/** How a message of each kind is described. `from` and `to` are names of sites. */
const DESCRIPTIONS: {
  readonly [Kind in KindOf]: (
    message: Extract<Message, { readonly kind: Kind }>,
    from: string,
    to: string,
  ) => DescribedMessage;
} = {
  'blue.operations': ({ operations }, from) => ({
    group: 'blue',
    text: `${from} sends ${countOf(operations.length, 'blue operation')}: ${listOf(operations, describeBlue)}.`,
  }),
  'blue.received': ({ sequence }, from, to) => ({
    group: 'acknowledgement',
    text: `${from} has the blue operations of ${to} up to number ${sequence} on its disk.`,
  }),
  'blue.heartbeat': ({ sequence }, from) => ({
    group: 'heartbeat',
    text: `${from} has created ${countOf(sequence, 'blue operation')} so far, and asks whether all have arrived.`,
  }),
  'blue.have': ({ isRequest }, from, to) => ({
    group: 'heartbeat',
    text: `${from} reports how many operations of each site it has${isRequest ? `, and asks ${to} for the same` : ''}.`,
  }),
  'blue.resend': ({ origin, after }, from, to) => ({
    group: 'request',
    text: `${from} asks ${to} for the blue operations of site ${origin} after number ${after}.`,
  }),
  'blue.gone': ({ origin, after }, from) => ({
    group: 'request',
    text: `${from} does not keep the blue operations of site ${origin} after number ${after} any more.`,
  }),
  'log.propose': ({ record }, from, to) => ({
    group: 'red',
    text: `${from} asks ${to}, the leader, to order ${describeRecord(record)}.`,
  }),
  'log.append': ({ position, entries, committed }, from) => {
    const majority = `A majority has ${committed === 0 ? 'none yet' : `the first ${committed}`}.`;
    if (entries.length === 0)
      return { group: 'heartbeat', text: `${from} sends no new entry of the red log. ${majority}` };
    const named = listOf(entries, ({ record }) => describeRecord(record));
    const text = `${from} sends ${countOf(entries.length, 'entry', 'entries')} of the red log from number ${position + 1} on: ${named}. ${majority}`;
    return { group: 'order', text };
  },
  'log.appended': ({ length }, from) => ({
    group: 'acknowledgement',
    text: `${from} has the first ${countOf(length, 'entry', 'entries')} of the red log on its disk.`,
  }),
  'log.check': ({ last }, from, to) => ({
    group: 'request',
    text: `${from} asks ${to} whether it has all its proposals up to number ${last}.`,
  }),
  'log.checked': ({ next }, from, to) => ({
    group: 'acknowledgement',
    text: `${from} has the first ${countOf(next - 1, 'proposal')} of ${to}.`,
  }),
  'log.gone': ({ length }, from) => ({
    group: 'request',
    text: `${from} does not keep the entries of the red log after number ${length} any more.`,
  }),
  'rights.request': ({ requests }, from, to) => ({
    group: 'request',
    text: `${from} asks ${to} for rights: ${listOf(
      requests,
      ({ table, key, field, amount }) => `${amount} of ${table} ${formatValue(key)}, ${field}`,
    )}.`,
  }),
  'rows.request': ({ range: { table } }, from, to) => ({
    group: 'request',
    text: `${from} asks ${to} for digests of rows of ${table}.`,
  }),
  'rows.digest': ({ range: { table } }, from, to) => ({
    group: 'request',
    text: `${from} reports digests of its rows of ${table} to ${to}.`,
  }),
  'slot.request': ({ id }, from, to) => ({
    group: 'request',
    text: `The client of ${id} has moved to ${from}, which asks ${to} what it has decided about the operation.`,
  }),
  'slot.answered': ({ id, decision }, from) => ({
    group: 'request',
    text: `${from} reports what it has decided about ${id}: ${describeDecision(decision)}.`,
  }),
  'term.superseded': (_, from, to) => ({
    group: 'request',
    text: `${from} reports to ${to} that it knows a later start of that site.`,
  }),
  'member.closed': (_, from, to) => ({
    group: 'request',
    text: `${from} reports to ${to} that it was retired.`,
  }),
  'node.hello': (_, from, to) => ({
    group: 'request',
    text: `${from} has started, and introduces itself to ${to}.`,
  }),
  'node.known': (_, from, to) => ({
    group: 'request',
    text: `${from} reports to ${to} how much of its data it knows.`,
  }),
  'node.twin': (_, from) => ({
    group: 'request',
    text: `${from} reports that two nodes run as one site.`,
  }),
  'node.fork': (_, from, to) => ({
    group: 'request',
    text: `${from} refuses the messages of this node of ${to}.`,
  }),
};

export function describeMessage(
  message: Envelope['message'],
  from: string,
  to: string,
): DescribedMessage {
  // Runs with etcd have messages of other kinds.
  const kind = message.kind as KindOf;
  const describe = DESCRIPTIONS[kind] as
    | ((message: unknown, from: string, to: string) => DescribedMessage)
    | undefined;
  return (
    describe?.(message, from, to) ?? { group: 'request', text: `${from} sends ${kind} to ${to}.` }
  );
}

/** Describes an operation with what it changes. */
export function describeOperation(operation: AnyOperation): string {
  if (isLowWatermark(operation)) return 'a mark up to which removals may be forgotten';
  if (isTransfer(operation)) return `a transfer of rights (${operation.id})`;
  const { id, shadow, effects } = operation;
  const name = shadow ?? (isRed(operation) ? operation.operation : 'an operation');
  if (effects.length === 0) return `${name} (${id}), which changes nothing`;
  return `${name} (${id}: ${listOf(effects, describeEffect)})`;
}

function describeBlue(operation: BlueOperation): string {
  return `number ${operation.sequence}, ${describeOperation(operation)}`;
}

function describeEffect({ table, key, field, action, value }: Effect): string {
  const change = field === '' ? action : `${field}.${action}`;
  return `${table} ${formatValue(key)} ${change}(${value === undefined ? '' : formatValue(value)})`;
}

function describeRecord(record: RedRecord): string {
  if (record.kind === 'operation')
    return `${describeOperation(record)}${record.attempt > 1 ? `, attempt ${record.attempt}` : ''}`;
  if (record.kind === 'marker') return 'a strong read';
  if (record.kind === 'check') return `the strong read ${record.id}`;
  if (record.kind === 'close') return `the end of ${record.id}, which was rejected too often`;
  if (record.kind === 'hold') return `a hold on rows for ${record.operation.shadow ?? record.id}`;
  if (record.kind === 'release') return `the end of the hold of ${record.id}`;
  if (record.kind === 'abort') return `the end of ${record.id} without a commit`;
  if (record.kind === 'member') return 'a change of the members';
  return `a record of kind ${record.kind}`;
}

function describeDecision(decision: SlotDecision | undefined): string {
  if (decision === undefined) return 'its identifier has expired';
  if (decision.kind === 'claim') return `it has moved to site ${decision.site}`;
  if (decision.kind === 'handover') return 'the red log decides';
  if (decision.failure !== undefined) return `it has failed with ${decision.failure.code}`;
  return 'it was executed, and here is its reply';
}

function listOf<T>(items: readonly T[], describe: (item: T) => string): string {
  const named = items.slice(0, MAX_NAMED).map(describe).join('; ');
  return items.length > MAX_NAMED ? `${named}; and ${items.length - MAX_NAMED} more` : named;
}

function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
