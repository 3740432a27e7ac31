/**
 * Counts the bytes that the product writes for an operation, with its own encoders, one operation
 * after the other.
 */
import { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { getDelayMs, type Place } from './layouts.ts';
import { ProductDeployment } from './product-deployment.ts';

const PLACES: readonly Place[] = ['eu-1', 'us-east-1', 'us-west-1'];
const START_MS = 2_000;
const MAX_OPERATION_MS = 1_000;
/** What the sites confirm to each other after an operation is counted too. */
const PAUSE_MS = 2_000;

export interface BytesPerOperation {
  /** All messages between the sites for one operation. */
  readonly wireBytes: number;
  /** All entries of all logs of one site. */
  readonly diskBytes: number;
}

/** Runs operations on two rows of one partition, the partitions in turn. */
export function countBytes(partitionCount: number, operations: number): BytesPerOperation {
  const timeline = new Timeline();
  const layout = Array.from({ length: partitionCount }, () => PLACES);
  const product = new ProductDeployment({
    timeline,
    layout,
    isFirstMain: true,
    getDelayMs,
    serviceMs: 0,
  });
  timeline.run(START_MS);
  const before = { ...product.counts };
  for (let count = 0; count < operations; count += 1) {
    const partition = count % partitionCount;
    const rows = [2 * count, 2 * count + 1].map((row) => ({
      partition,
      row,
      isRead: true,
      isWritten: true,
    }));
    let isOpen = true;
    product.begin({ home: partition, rows }, () => (isOpen = false));
    timeline.run(timeline.nowMs + MAX_OPERATION_MS, () => !isOpen);
    if (isOpen) throw new Error('an operation has not ended');
    timeline.run(timeline.nowMs + PAUSE_MS);
  }
  return {
    wireBytes: (product.counts.wireBytes - before.wireBytes) / operations,
    diskBytes: (product.counts.diskBytes - before.diskBytes) / operations / PLACES.length,
  };
}
