/**
 * How far a session has seen the log of the primary. `tiered` also uses it for the versions of one
 * key.
 *
 * Two positions may not be comparable: after a failover, the new primary writes another log. The
 * primary is then right. The session goes on at its position. If the store knows that the new log
 * lacks what the session has seen, the session remembers that.
 */

/** The state of a session, as its token carries it. */
export interface SessionState<Position> {
  /** Everything up to this position was written or shown in the session. */
  readonly need: Position | null;
  /**
   * Whether the session has also seen something whose position is unknown. Only the primary
   * certainly has that.
   */
  readonly needsPrimary: boolean;
  /** Whether positions can no longer be compared. Absent for false. */
  readonly isUnordered?: true | undefined;
  /** Whether the store has lost something that was seen. Absent for false. */
  readonly hasLoss?: true | undefined;
}

/**
 * Returns whether a primary at `have` lacks something up to `need` for good, as after a failover
 * that has lost it.
 */
export type HasLost<Position> = (have: Position, need: Position) => boolean;

type Reached<Position> = (have: Position, need: Position) => boolean;

export class SessionPositions<Position> {
  readonly #reached: Reached<Position>;
  readonly #hasLost: HasLost<Position> | undefined;
  #need: Position | undefined;
  #hasLoss = false;
  /** Counts what was seen at unknown positions. */
  #unknownCount = 0;
  /** How much of that a read at the primary has covered. */
  #coveredCount = 0;
  /** Counts how often the position was forgotten. */
  #epoch = 0;
  #isUnordered = false;

  /**
   * @param hasLost Default: no loss is noticed, and a primary that is behind in
   *   the same log is not used
   */
  constructor(reached: Reached<Position>, hasLost?: HasLost<Position>) {
    this.#reached = reached;
    this.#hasLost = hasLost;
  }

  get state(): SessionState<Position> {
    return {
      need: this.#need ?? null,
      needsPrimary: this.#needsPrimary,
      ...(this.#isUnordered && { isUnordered: true }),
      ...(this.#hasLoss && { hasLoss: true }),
    };
  }

  /** Whether the store has lost something that the session has seen. */
  get hasLoss(): boolean {
    return this.#hasLoss;
  }

  /** Continues a session from a token. Several may be from several logs. */
  continueFrom({ need, needsPrimary, isUnordered, hasLoss }: SessionState<Position>): void {
    if (isUnordered) this.#isUnordered = true;
    if (hasLoss) this.#hasLoss = true;
    if (needsPrimary) this.#unknownCount += 1;
    if (need === null) return;
    if (this.#need !== undefined && !this.#isOrdered(this.#need, need)) this.#unknownCount += 1;
    this.#advance(need);
  }

  /** Whether later positions may begin from the first one again. */
  get isUnordered(): boolean {
    return this.#isUnordered;
  }

  /** Begins a read. It is judged by what the session has seen by now. */
  beginRead(): SessionRead<Position> {
    return {
      epoch: this.#epoch,
      need: this.#need,
      unknownCount: this.#unknownCount,
      needsPrimary: this.#needsPrimary,
    };
  }

  /** Returns whether a replica at `have` shows all that the session has seen. */
  canShow({ need, needsPrimary }: SessionRead<Position>, have: Position | undefined): boolean {
    if (have === undefined || needsPrimary) return false;
    return need === undefined || this.#reached(have, need);
  }

  /** Returns whether the primary is certainly older than the session. */
  isPrimaryBehind({ need }: SessionRead<Position>, have: Position | undefined): boolean {
    if (need === undefined || have === undefined) return false;
    if (this.#hasLost !== undefined) return false;
    return !this.#reached(have, need) && this.#reached(need, have);
  }

  /** Notes what a replica has shown to a read. */
  recordReplica(before: SessionRead<Position>, seenUpTo: Position): void {
    if (this.#isForgotten(before)) this.#unknownCount += 1;
    else if (this.#need === undefined || this.#reached(seenUpTo, this.#need)) this.#need = seenUpTo;
  }

  /** Notes a write of the session, and what it had seen when that began. */
  recordWrite(position: Position | undefined, before?: SessionRead<Position>): void {
    if (position === undefined) this.#unknownCount += 1;
    else this.#advance(position, before);
  }

  /**
   * Forgets the position, because what comes next cannot be compared with it. Only the primary
   * certainly has that. Nor can it be compared with what is in flight: that may be from before or
   * after.
   */
  forget(): void {
    this.#epoch += 1;
    this.#need = undefined;
    this.#unknownCount += 1;
  }

  /**
   * Forgets the position, because later ones may begin from the first one again. A replica may
   * still have a higher one from before. So only the primary answers from now on.
   */
  loseOrder(): void {
    this.forget();
    this.#isUnordered = true;
  }

  /** Notes what the primary has shown to a read. */
  recordPrimary(before: SessionRead<Position>, seenUpTo: Position | undefined): void {
    if (seenUpTo === undefined) {
      this.#unknownCount += 1;
      return;
    }
    this.#coveredCount = Math.max(this.#coveredCount, before.unknownCount);
    this.#advance(seenUpTo, before);
  }

  get #needsPrimary(): boolean {
    return this.#isUnordered || this.#unknownCount > this.#coveredCount;
  }

  /**
   * Goes forward, or on to another log. It goes back if the log of the primary has become shorter,
   * as after a crash: no replica would ever be as far again.
   */
  #advance(position: Position, before?: SessionRead<Position>): void {
    const need = before?.need;
    if (need !== undefined && this.#hasLost?.(position, need) === true) this.#hasLoss = true;
    const isShorter =
      need !== undefined &&
      need === this.#need &&
      this.#hasLost !== undefined &&
      !this.#reached(position, need);
    // Meanwhile the session has gone on to another log. Which one is newer?
    const isDoubtful =
      before !== undefined &&
      this.#need !== undefined &&
      this.#need !== need &&
      !this.#isOrdered(this.#need, position);
    if (isDoubtful || this.#isForgotten(before)) this.#unknownCount += 1;
    else if (isShorter || this.#need === undefined || !this.#reached(this.#need, position))
      this.#need = position;
  }

  /** Whether the position was forgotten since the operation began. */
  #isForgotten(before: SessionRead<Position> | undefined): boolean {
    return before !== undefined && before.epoch !== this.#epoch;
  }

  #isOrdered(a: Position, b: Position): boolean {
    return this.#reached(a, b) || this.#reached(b, a);
  }
}

/** What a session had seen when a read began. */
export interface SessionRead<Position> {
  /** How often the session had forgotten its position. */
  readonly epoch: number;
  readonly need: Position | undefined;
  readonly unknownCount: number;
  /**
   * Whether only the primary certainly had all of it. Another read at the primary may have shown it
   * since, but `need` does not tell where.
   */
  readonly needsPrimary: boolean;
}
