/**
 * Sizes of the storage of a site that users do not set. They are options, so that the simulator
 * draws small ones and reaches what is beyond them.
 */

export interface StorageSizes {
  /** The approximate size of a frame. A larger entry has one of its own. */
  readonly maxFrameBytes: number;
  /** About how many characters of a checkpoint one turn encodes, so that inputs wait briefly. */
  readonly maxTurnCharacters: number;
  /** How many rows a checkpoint takes at a time. If they are large, a turn encodes more. */
  readonly maxRequestedRows: number;
  /** Called when the storage goes beyond one of them. */
  onExceeded?(size: keyof Omit<StorageSizes, 'onExceeded'>): void;
}

export const DEFAULT_STORAGE_SIZES: StorageSizes = {
  maxFrameBytes: 512 * 1024,
  maxTurnCharacters: 128 * 1024,
  maxRequestedRows: 16,
};
