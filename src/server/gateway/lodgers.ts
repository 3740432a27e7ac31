/**
 * Clients with replies that lie among other rows in the block of memory that is being written. Most replies are
 * acknowledged before it is full. The others are set apart once the next block is begun: a row of 20 bytes would keep
 * all of the one before.
 */

/** Who has such replies. */
export interface Lodger {
  /** Gives the replies that are still kept memory of their own. */
  setApart(): void;
}

let block: Uint8Array | undefined;
let lodgers: Lodger[] = [];

/** Sets those apart later that were written in this block. */
export function lodge(lodger: Lodger, writtenIn: Uint8Array): void {
  if (writtenIn !== block) {
    for (const earlier of lodgers) earlier.setApart();
    lodgers = [];
    block = writtenIn;
  }
  lodgers.push(lodger);
}
