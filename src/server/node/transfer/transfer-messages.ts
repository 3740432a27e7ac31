/**
 * The messages of a state transfer. The receiver requests slices, several ahead, and requests lost
 * ones again.
 */
import { crc32 } from 'node:zlib';

/** The size of all slices but the last. */
export const SLICE_BYTES = 256 * 1024;

/** Sent by the receiver to the donor. */
export type TransferRequest =
  /** Take a snapshot, under a name that the receiver has created. */
  | { readonly kind: 'transfer.begin'; readonly transfer: string }
  | {
      readonly kind: 'transfer.read';
      readonly transfer: string;
      readonly offset: number;
    }
  /** The snapshot is not needed any more. */
  | { readonly kind: 'transfer.end'; readonly transfer: string };

/** Bytes of a transfer, with their offset in it. */
export interface TransferSlice {
  readonly kind: 'transfer.slice';
  readonly transfer: string;
  readonly offset: number;
  /** Whether it is the last slice. */
  readonly isLast: boolean;
  /** The CRC-32 of the bytes. */
  readonly checksum: number;
  readonly bytes: Uint8Array;
}

/** Sent by the donor to the receiver. */
export type TransferReply =
  /** The snapshot exists. The transfer has about this many bytes. */
  | {
      readonly kind: 'transfer.ready';
      readonly transfer: string;
      readonly bytes: number;
    }
  /**
   * There is no snapshot now: try again later. With `isClosed` there never is, because the
   * receiver's directory is of a closed site.
   */
  | {
      readonly kind: 'transfer.refused';
      readonly transfer: string;
      readonly reason: string;
      readonly isClosed?: boolean | undefined;
    }
  /** The donor does not have this snapshot any more: begin another transfer. */
  | { readonly kind: 'transfer.lost'; readonly transfer: string }
  | TransferSlice;

export function createSlice(slice: Omit<TransferSlice, 'kind' | 'checksum'>): TransferSlice {
  return { kind: 'transfer.slice', ...slice, checksum: crc32(slice.bytes) };
}

export function isIntact({ bytes, checksum }: TransferSlice): boolean {
  return crc32(bytes) === checksum;
}

/**
 * Returns the file number that the frames of a transfer have, so that frames of two transfers do
 * not fit together.
 */
export function getFileNumber(transfer: string): number {
  return crc32(transfer) & 0xffff;
}
