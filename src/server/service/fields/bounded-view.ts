/** What services see of a bounded field. */

/** A bounded field as generators and invariants read it. */
export interface BoundedView {
  /** What stands: never below the minimum. */
  readonly value: number;
  /** What stands above the minimum: so much can be taken, somewhere. */
  readonly left: number;
  /** How much of it the site that asks may take by itself; all of it, outside of sites. */
  readonly rights: number;
}
