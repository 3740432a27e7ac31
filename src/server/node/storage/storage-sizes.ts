/**
 * Sizes of the storage of a site that users do not set. They are options, so that the simulator
 * draws small ones and reaches what is beyond them.
 */

export interface StorageSizes {
  /** The approximate size of a frame. A larger entry has one of its own. */
  readonly maxFrameBytes: number;
  /**
   * A checkpoint file is rewritten when it is longer than this, and longer than twice its length
   * after the last rewrite.
   */
  readonly minRewriteBytes: number;
  /** The approximate number of characters in a frame of a checkpoint. */
  readonly maxCheckpointFrameCharacters: number;
  /** The maximum of rows that a checkpoint requests at a time. */
  readonly maxRequestedRows: number;
  /** Called when the storage goes beyond one of them. */
  onExceeded?(size: keyof Omit<StorageSizes, 'onExceeded'>): void;
}

export const DEFAULT_STORAGE_SIZES: StorageSizes = {
  maxFrameBytes: 512 * 1024,
  minRewriteBytes: 4 * 1024 * 1024,
  maxCheckpointFrameCharacters: 1024 * 1024,
  maxRequestedRows: 500,
};
