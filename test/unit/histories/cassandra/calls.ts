/** Calls of made-up histories. */
import { INDEPENDENT, NEMESIS, type Input } from '../../../histories/cassandra/inputs.ts';
import type { Call } from '../../../histories/history.ts';

/** The outcome and times of a call, beside its input. */
export type More = Partial<
  Pick<Call, 'session' | 'kind' | 'key' | 'outcome' | 'levels' | 'isRetryable'>
> & {
  /** Whether a condition was made. */
  readonly isApplied?: boolean;
  readonly input?: Input;
};

type Span = readonly [beginMs: number, endMs: number];

export function call(
  [beginMs, endMs]: Span,
  input: Input,
  { isApplied, input: more, ...rest }: More = {},
): Call {
  const description = {
    session: 'quorum-frankfurt-0/a',
    kind: 'put',
    key: 'k',
    outcome: 'success',
    ...rest,
  };
  return {
    ...description,
    input: { ...input, ...more },
    beginMs,
    endMs,
    output: isApplied,
    views: [],
  };
}

/** Writes the key `k`; null deletes it. */
export function write(span: Span, value: string | null, more: More = {}): Call {
  return call(
    span,
    { writes: [{ key: 'k', value }] },
    { kind: value === null ? 'remove' : 'put', ...more },
  );
}

/** A conditional write of `k`. */
export function swap(span: Span, expected: string | null, value: string, more: More = {}): Call {
  return call(
    span,
    { writes: [{ key: 'k', value }], expected },
    { kind: 'swap', isApplied: true, ...more },
  );
}

/** Reads `k`: the strong view at the end, the weak one, where there is one, in the middle. */
export function read(
  [beginMs, endMs]: Span,
  strong: string | null,
  more: More & { weak?: string | null } = {},
): Call {
  const { weak, ...rest } = more;
  const meta = { confirms: weak === strong };
  const early =
    weak === undefined ? [] : [{ level: 'weak', value: [weak], atMs: (beginMs + endMs) / 2 }];
  const views = [...early, { level: 'strong', value: [strong], atMs: endMs, meta }];
  return { ...call([beginMs, endMs], { reads: ['k'] }, { kind: 'get', ...rest }), views };
}

/** The last word on `k`. */
export function finally_(value: string | null): Call {
  return read([9_000, 9_001], value, { session: INDEPENDENT, kind: 'final' });
}

export function harm(span: Span, key = ''): Call {
  return call(span, {}, { session: NEMESIS, kind: 'freeze', key });
}

/** What is made known at once to a reader of lists. */
export function lists([beginMs, endMs]: Span, elements: readonly string[], level = 'strong'): Call {
  return {
    ...call([beginMs, endMs], { lists: ['k'] }, { kind: 'list' }),
    views: [{ level, value: [elements], atMs: endMs }],
  };
}

export function append(span: Span, element: string, more: More = {}): Call {
  return call(span, { appends: [{ key: 'k', element }] }, { kind: 'append', ...more });
}
