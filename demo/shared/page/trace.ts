/** The course of one request as the page shows it. Times are in milliseconds from the call. */
import type { Watch, Way } from '../speculation/application.ts';

/** A span of work: reading the referenced things, or one request for content. */
export interface Span {
  readonly kind: 'read' | 'content';
  readonly fromMs: number;
  toMs: number | undefined;
  /** Whether it was canceled because the references turned out wrong. */
  cancelled: boolean;
}

/** A view of the references. */
export interface Seen {
  readonly atMs: number;
  readonly ids: readonly string[];
}

export class Trace implements Watch {
  readonly way: Way;
  readonly spans: Span[] = [];
  preliminary: Seen | undefined;
  final: Seen | undefined;
  /** When the requested change of the references was made. */
  changedMs: number | undefined;
  /** When the first run was cancelled. */
  cancelledMs: number | undefined;
  deliveredMs: number | undefined;
  runs = 0;
  readonly #beganAt = performance.now();
  readonly #onPreliminary: () => void;

  /** @param onPreliminary called when the preliminary references are there */
  constructor(way: Way, onPreliminary: () => void = () => {}) {
    this.way = way;
    this.#onPreliminary = onPreliminary;
  }

  /** Whether things were fetched for references that turned out wrong. */
  get misspeculated(): boolean {
    return this.runs > 1;
  }

  /** Milliseconds since the call. */
  nowMs(): number {
    return performance.now() - this.#beganAt;
  }

  references(ids: readonly string[], final: boolean): void {
    const seen = { atMs: this.nowMs(), ids };
    if (final) this.final = seen;
    else if (this.preliminary === undefined) {
      this.preliminary = seen;
      this.#onPreliminary();
    }
  }

  fetching(_ids: readonly string[], signal: AbortSignal | undefined): void {
    this.runs += 1;
    const first = this.spans.length;
    this.#begin('read');
    signal?.addEventListener('abort', () => {
      const open = this.spans.slice(first).filter(({ toMs }) => toMs === undefined);
      this.cancelledMs ??= this.nowMs();
      for (const span of open) this.#end(span, true);
    });
  }

  /**
   * Called when a request for content is sent, which ends the read before it. Call the returned
   * function when the answer has arrived.
   */
  requesting(): () => void {
    for (const span of this.spans) if (span.kind === 'read') this.#end(span);
    const span = this.#begin('content');
    return () => this.#end(span);
  }

  delivered(): void {
    this.deliveredMs = this.nowMs();
    for (const span of this.spans) this.#end(span);
  }

  #begin(kind: Span['kind']): Span {
    const span: Span = { kind, fromMs: this.nowMs(), toMs: undefined, cancelled: false };
    this.spans.push(span);
    return span;
  }

  #end(span: Span, cancelled = false): void {
    if (span.toMs !== undefined) return;
    span.toMs = this.nowMs();
    span.cancelled = cancelled;
  }
}
