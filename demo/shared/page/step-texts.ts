/** Describes the course of a request in words, also for screen readers. */
import { make } from './dom.ts';
import { formatMs } from './format.ts';
import type { Trace } from './trace.ts';

export interface Step {
  readonly atMs: number;
  readonly name: string;
  readonly text: string;
  readonly className?: string;
}

/** Returns the steps of a request of `user`, in order. */
export function getSteps(trace: Trace, user: number, things: string): Step[] {
  const { preliminary, final, changedMs, cancelledMs, deliveredMs } = trace;
  const steps: Step[] = [];
  if (preliminary !== undefined) {
    steps.push({
      atMs: preliminary.atMs,
      name: 'Early answer',
      text: `${referencesTo(preliminary.ids, things)}: fetch early`,
    });
  }
  if (changedMs !== undefined) {
    steps.push({
      atMs: changedMs,
      name: 'Changed',
      text: 'the references change',
      className: 'corrected',
    });
  }
  if (final !== undefined)
    steps.push({ atMs: final.atMs, name: 'Confirmed', text: finalText(trace, things) });
  if (cancelledMs !== undefined) {
    const inVain = trace.spans.filter(
      ({ kind, cancelled }) => kind === 'content' && cancelled,
    ).length;
    const requests =
      inVain === 0 ? '' : `, with ${inVain} ${inVain === 1 ? 'request' : 'requests'} for content`;
    const text = `early work${requests}; fetched again`;
    steps.push({ atMs: cancelledMs, name: 'Canceled', text, className: 'corrected' });
  }
  if (deliveredMs !== undefined) {
    const text = `to user ${user}: ${final?.ids.length ?? 0} ${things}`;
    steps.push({ atMs: deliveredMs, name: 'Delivered', text, className: 'delivered' });
  }
  return steps.toSorted((a, b) => a.atMs - b.atMs);
}

/** Creates a list item for a step. */
export function stepItem({ name, text, atMs, className = '' }: Step): HTMLElement {
  return make(
    'li',
    '',
    make('span', 'name', name),
    make('span', className, text),
    make('span', 'ms', formatMs(atMs)),
  );
}

function finalText({ way, final, misspeculated }: Trace, things: string): string {
  if (way === 'baseline') return `${referencesTo(final?.ids ?? [], things)}: fetch`;
  return misspeculated ? 'other references: corrected' : 'the early answer was right';
}

function referencesTo(ids: readonly string[], things: string): string {
  return `${ids.length} references to ${things}`;
}
