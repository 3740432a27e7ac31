/** Pure helpers on values, versions and views. */
import type { ViewDetails } from './binding.ts';
import type { AnyView } from './view.ts';

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

/** The order of versions that need no binding to be compared. */
export function isOlder(version: unknown, than: unknown): boolean {
  if (typeof version === 'number' && typeof than === 'number') return version < than;
  if (typeof version === 'bigint' && typeof than === 'bigint') return version < than;
  return version instanceof Date && than instanceof Date && version.getTime() < than.getTime();
}

/** The details that a view or kept value carries, if any. */
export function detailsOf(carrier: ViewDetails): ViewDetails | undefined {
  return carrier.version === undefined && carrier.meta === undefined ? undefined : carrier;
}

/** The details of an earlier view, replaced key by key by those of its confirmation. */
export function mergeDetails(kept: ViewDetails, details: ViewDetails | undefined): ViewDetails | undefined {
  if (details === undefined) return detailsOf(kept);
  const version = details.version ?? kept.version;
  const meta = kept.meta === undefined ? details.meta : { ...kept.meta, ...details.meta };
  return meta === undefined ? { version } : { version, meta };
}

/** The view with what the binding said beside it; optional keys only where they say something. */
export function withDetails<T>(view: AnyView<T>, { version, meta }: ViewDetails, regressed: boolean): AnyView<T> {
  if (regressed) return { ...view, final: true, version, ...(meta && { meta }), regressed };
  if (meta !== undefined) return { ...view, version, meta };
  // Written out, since most stores know versions and spreading takes longer.
  const { value, level, final, seq, confirms, at } = view;
  return { value, level, final, seq, confirms, at, version };
}
