/**
 * What the sites of a state transfer send. The receiver asks for slices,
 * several ahead, and asks again for lost ones.
 */
import { crc32 } from 'node:zlib';

/** A slice has so many bytes, except the last one. */
export const SLICE_BYTES = 256 * 1024;

/** From the receiver to the donor. */
export type TransferRequest =
  /** Take a snapshot, under a name that the receiver has made. */
  | { readonly kind: 'transfer.begin'; readonly transfer: string }
  | {
      readonly kind: 'transfer.read';
      readonly transfer: string;
      readonly offset: number;
    }
  /** The snapshot is not needed any more. */
  | { readonly kind: 'transfer.end'; readonly transfer: string };

/** Bytes of a transfer, at their place in it. */
export interface TransferSlice {
  readonly kind: 'transfer.slice';
  readonly transfer: string;
  readonly offset: number;
  /** Whether the transfer ends with it. */
  readonly isLast: boolean;
  /** CRC-32 of the bytes. */
  readonly checksum: number;
  readonly bytes: Uint8Array;
}

/** From the donor to the receiver. */
export type TransferReply =
  /** The snapshot is there; the transfer has about so many bytes. */
  | {
      readonly kind: 'transfer.ready';
      readonly transfer: string;
      readonly bytes: number;
    }
  /**
   * There is no snapshot now: try again later. With `isClosed` never, since the
   * receiver's directory is of a closed site.
   */
  | {
      readonly kind: 'transfer.refused';
      readonly transfer: string;
      readonly reason: string;
      readonly isClosed?: boolean | undefined;
    }
  /**
   * The donor has no such snapshot, or not any more: begin another transfer.
   */
  | { readonly kind: 'transfer.lost'; readonly transfer: string }
  | TransferSlice;

export function createSlice(
  slice: Omit<TransferSlice, 'kind' | 'checksum'>,
): TransferSlice {
  return { kind: 'transfer.slice', ...slice, checksum: crc32(slice.bytes) };
}

export function isIntact({ bytes, checksum }: TransferSlice): boolean {
  return crc32(bytes) === checksum;
}

/**
 * The number that the frames of a transfer have in place of their file's:
 * frames of two transfers do not fit together.
 */
export function getFileNumber(transfer: string): number {
  return crc32(transfer) & 0xffff;
}
