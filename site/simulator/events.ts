/** The events of a recorded run in the order of their beginnings, each with a sentence about it. */
import type {
  MessageGroup,
  RecordedCut,
  RecordedMark,
  RecordedMessage,
  RecordedOperation,
  RecordedOutage,
  RecordedRun,
} from '../../test/simulator/recorder/recorded-run.ts';

export type { MessageGroup, RecordedMark, RecordedMessage, RecordedOperation, RecordedRun };

type Subject =
  | { readonly kind: 'message'; readonly item: RecordedMessage }
  | { readonly kind: 'mark'; readonly item: RecordedMark }
  | { readonly kind: 'outage'; readonly item: RecordedOutage }
  | { readonly kind: 'cut'; readonly item: RecordedCut }
  | { readonly kind: 'operation'; readonly item: RecordedOperation };

export type RunEvent = Subject & {
  /** Its place in the list. */
  readonly index: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly text: string;
};

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const FATES: Readonly<Record<RecordedMessage['fate'], (endedAt: string) => string>> = {
  delivered: (endedAt) => `It arrives at ${endedAt}.`,
  down: (endedAt) => `It arrives at ${endedAt}, when that site is down.`,
  lost: () => 'The network loses it.',
  cut: () => 'A partition is in the way, so it does not arrive.',
};

export function formatMs(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}

export function listEvents(run: RecordedRun): readonly RunEvent[] {
  const events = [
    ...run.messages.map((item) => ({
      kind: 'message' as const,
      item,
      fromMs: item.sentAtMs,
      toMs: item.endedAtMs,
      text: `${item.text} ${FATES[item.fate](formatMs(item.endedAtMs))}`,
    })),
    ...run.marks.map((item) => ({
      kind: 'mark' as const,
      item,
      fromMs: item.atMs,
      toMs: item.atMs,
      text: item.text,
    })),
    ...run.outages.map((item) => ({
      kind: 'outage' as const,
      item,
      ...spanOf(item),
      text: describeSpan(item),
    })),
    ...run.cuts.map((item) => ({
      kind: 'cut' as const,
      item,
      ...spanOf(item),
      text: describeCut(item),
    })),
    ...run.operations.map((item) => ({
      kind: 'operation' as const,
      item,
      fromMs: item.submittedAtMs,
      toMs: item.endedAtMs ?? run.endMs,
      text: describeCall(item),
    })),
  ];
  return events
    .toSorted((a, b) => a.fromMs - b.fromMs)
    .map((event, index) => ({ ...event, index }));
}

/** Returns the events that overlap the span. Messages of other groups are left out. */
export function filterEvents(
  events: readonly RunEvent[],
  { fromMs, toMs }: Span,
  groups: ReadonlySet<MessageGroup>,
): readonly RunEvent[] {
  return events.filter(
    (event) =>
      event.fromMs <= toMs &&
      event.toMs >= fromMs &&
      (event.kind !== 'message' || groups.has(event.item.group)),
  );
}

const SPANS_MS = [2000, 1000, 500, 300, 200, 150, 100, 75, 50, 30, 20] as const;

/**
 * Returns how long the longest span from `fromMs` on is in which no more than `maxMessages`
 * messages begin.
 */
export function chooseSpanMs(run: RecordedRun, fromMs: number, maxMessages: number): number {
  const count = (spanMs: number): number =>
    run.messages.filter(({ sentAtMs }) => sentAtMs >= fromMs && sentAtMs <= fromMs + spanMs).length;
  return SPANS_MS.find((spanMs) => count(spanMs) <= maxMessages) ?? (SPANS_MS.at(-1) as number);
}

/** Whether a preliminary view had another value than the final one. */
export function isCorrected({ views }: RecordedOperation): boolean {
  const final = views.at(-1);
  return views.some(({ stage, value }) => stage === 'tentative' && value !== final?.value);
}

function spanOf({ fromMs, toMs }: Span): Span {
  return { fromMs, toMs };
}

function describeSpan({ text, fromMs, toMs }: RecordedOutage): string {
  return `${text} It lasts from ${formatMs(fromMs)} to ${formatMs(toMs)}.`;
}

function describeCut({ from, to, fromMs, toMs }: RecordedCut): string {
  return `The network carries nothing from site ${from} to site ${to}, from ${formatMs(fromMs)} to ${formatMs(toMs)}.`;
}

function describeCall({
  client,
  call,
  id,
  level,
  submittedAtMs,
  views,
  error,
}: RecordedOperation): string {
  const begin = `Client ${client} calls ${call} with level ${level} at ${formatMs(submittedAtMs)} (${id}).`;
  const shown = views.map(
    ({ atMs, stage, value, site }) =>
      `${formatMs(atMs)}: site ${site} answers ${value}, level ${stage}.`,
  );
  const end = error === undefined ? [] : [`It ends with ${error}.`];
  if (views.length === 0 && error === undefined) end.push('It gets no answer in this run.');
  return [begin, ...shown, ...end].join(' ');
}
