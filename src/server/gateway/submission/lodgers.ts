/**
 * Replies, and values of views that may be confirmed, that lie among other rows in the block of memory that is being
 * written. Most are gone before it is full. The others are set apart once the next block is begun: 20 bytes would keep
 * all of the one before, and count as 20.
 */

/** What may lie there. */
export interface Lodger {
  /** Gives it memory of its own, if it is still kept. */
  setApart(): void;
}

let block: ArrayBufferLike | undefined;
let lodgers: Lodger[] = [];

/** Sets it apart later, with all that were written in this block. */
export function lodge(lodger: Lodger, writtenIn: ArrayBufferLike): void {
  if (writtenIn !== block) {
    for (const earlier of lodgers) earlier.setApart();
    lodgers = [];
    block = writtenIn;
  }
  lodgers.push(lodger);
}
