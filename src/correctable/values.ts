/** Pure helpers on values, versions and details. */
import type { ViewDetails } from './binding.ts';

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** The order of versions that need no binding to be compared. */
export function isOlder(version: unknown, than: unknown): boolean {
  if (version instanceof Date) return than instanceof Date && version < than;
  const kind = typeof version;
  return kind === typeof than && (kind === 'number' || kind === 'bigint') && (version as number) < (than as number);
}

/** The details of an earlier view, replaced key by key by those of its confirmation, which alone says whether it is final. */
export function mergeDetails(kept: ViewDetails, details?: ViewDetails): ViewDetails {
  const meta = kept.meta || details?.meta ? { ...kept.meta, ...details?.meta } : undefined;
  return { version: details?.version ?? kept.version, meta, final: details?.final };
}
