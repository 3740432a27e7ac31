/**
 * Checks low watermarks: an operation that follows one had seen everything that it covers. Removals
 * that all watermarks cover are forgotten.
 */
import type { Origin } from '../../../server/service/records/origin.ts';
import { SiteChecker, isRed, assertProperty, type AnyOperation } from './checker.ts';

/** The name of the shadow operation of watermarks, which belong to no service. */
const WATERMARK_SHADOW = '';

/** Returns whether the operation is a low watermark, which no generator made. */
export function isLowWatermark({ shadow }: AnyOperation): boolean {
  return shadow === WATERMARK_SHADOW;
}

type WatermarksByOrigin = (readonly number[])[];

export class LowWatermarkChecker extends SiteChecker<WatermarksByOrigin> {
  readonly name = 'floors';

  constructor() {
    super((saved) => [...(saved ?? [])]);
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    const watermarks = this.getState(site);
    const { id, site: origin } = operation;
    const seen = isRed(operation) ? operation.snapshot : operation.vector;
    for (const [entry, stamp] of (watermarks[origin] ?? []).entries()) {
      assertProperty(
        (seen[entry] ?? 0) >= stamp,
        () =>
          `site ${site} shows ${id}, which had seen entry ${entry} up to ${seen[entry]}, after a floor of ${stamp}`,
      );
    }
    if (isLowWatermark(operation)) watermarks[origin] = operation.reply?.value as readonly number[];
  }
}

/** The name of the shadow operation of transfers of rights. */
const RIGHTS_TRANSFER_SHADOW = '\u0000rights';

/**
 * Returns whether a site made the operation itself to transfer rights. No client has requested it,
 * and no generator has made it.
 */
export function isTransfer({ shadow }: AnyOperation): boolean {
  return shadow === RIGHTS_TRANSFER_SHADOW;
}

export function isSiteOperation(operation: AnyOperation): boolean {
  return isLowWatermark(operation) || isTransfer(operation);
}
