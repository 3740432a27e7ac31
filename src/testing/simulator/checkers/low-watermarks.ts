/**
 * A floor is true: whatever comes after it had seen what it covers. Removals
 * covered by all floors are forgotten.
 */
import type { Origin } from '../../../server/records/origin.ts';
import {
  SiteChecker,
  isRed,
  assertProperty,
  type AnyOperation,
} from './checker.ts';

/** Operations of no service, by their shadow operation's name. */
const WATERMARK_SHADOW = '';

/** Whether the operation is a floor: no generator made it. */
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
    const floors = this.getState(site);
    const { id, site: origin } = operation;
    const seen = isRed(operation) ? operation.snapshot : operation.vector;
    for (const [entry, stamp] of (floors[origin] ?? []).entries()) {
      assertProperty(
        (seen[entry] ?? 0) >= stamp,
        () =>
          `site ${site} shows ${id}, which had seen entry ${entry} up to ${seen[entry]}, after a floor of ${stamp}`,
      );
    }
    if (isLowWatermark(operation))
      floors[origin] = operation.reply?.value as readonly number[];
  }
}

/** Of transfers of rights, by their shadow operation's name. */
const RIGHTS_TRANSFER_SHADOW = '\u0000rights';

/**
 * Operations that sites make themselves: no client has asked for them, and no
 * generator has made them.
 */
export function isTransfer({ shadow }: AnyOperation): boolean {
  return shadow === RIGHTS_TRANSFER_SHADOW;
}

export function isSiteOperation(operation: AnyOperation): boolean {
  return isLowWatermark(operation) || isTransfer(operation);
}
