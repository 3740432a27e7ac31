/** One operation that has no final yet. */
import type { InvocationContext, Sink, ViewDetails, Whereabouts } from '../../correctable/binding.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Access } from '../../correctable/operation.ts';
import type { EncodedRow } from '../../protocol/codec/codec.ts';
import { ANNOUNCED_BYTES_MIN } from '../../protocol/rows/short-rows.ts';
import type { ClientRow } from '../../protocol/rows/client-kinds.ts';
import type { Outage } from './outage.ts';
import { structurallyEqual } from '../../correctable/equal.ts';
import { copied } from '../../values/copy.ts';

/** A view that may be confirmed: what the server gave, whatever its receivers have made of it meanwhile. */
export class SeenView {
  /** The sink's number for it. */
  readonly seq: number;
  /** With what its confirmations have added. */
  readonly details: ViewDetails;
  /** What the server gave. */
  readonly #own: unknown;
  /** The same, as it was handed on. */
  readonly #handedOn: unknown;

  constructor(seq: number, details: ViewDetails, own: unknown, handedOn: unknown) {
    this.seq = seq;
    this.details = details;
    this.#own = own;
    this.#handedOn = handedOn;
  }

  /** Whether what was handed on is what the server gave: what can no longer be read is not. */
  isUntouched(): boolean {
    try {
      return structurallyEqual(this.#own, this.#handedOn);
    } catch {
      return false;
    }
  }

  /** What the server gave, to be handed on as a view of its own. */
  again(): unknown {
    return copied(this.#own);
  }

  /** The same view once it was confirmed, or handed on again with this number and value. */
  with(details: ViewDetails, seq = this.seq, handedOn = this.#handedOn): SeenView {
    return new SeenView(seq, details, this.#own, handedOn);
  }
}

/** What operations need to know of the line that they were submitted on. */
export interface Carrier {
  /** Names what its server remembers of this client. */
  readonly memory: string | undefined;
  /** How many operations wait for an answer on it. */
  awaited: number;
  /** How many bytes the large ones among them have. */
  awaitedBytes: number;
  /** Whether its server goes away, and nothing is submitted on it any more. */
  readonly retired: boolean;
  push(row: ClientRow): void;
}

/** How many views can be confirmed, the latest: as many as a gateway keeps of an operation. */
const SEQS_MAX = 1024;

/** What an operation is made from. */
export interface OperationParts {
  readonly id: number;
  readonly name: string;
  readonly effect: Access;
  /** Index of the strongest requested level: a view at it or above ends the operation. */
  readonly strongest: number;
  readonly sink: Sink;
  readonly context: InvocationContext;
}

/** One operation under way, and where it is: the application's side asks that when it gives up. */
export class InFlightOperation implements Whereabouts {
  readonly id: number;
  readonly name: string;
  readonly effect: Access;
  readonly strongest: number;
  readonly sink: Sink;
  readonly context: InvocationContext;
  /** The submission as it is sent, and sent again after a reconnect. */
  readonly row: EncodedRow;
  readonly #outage: Outage;
  /** Where its answer is to come from; none while it waits to be submitted. */
  line: Carrier | undefined = undefined;
  /** Whether it was submitted on an earlier line, which may have executed it. */
  sentBefore = false;
  /** What the server remembered that it was sent to before; none, where that differed from one time to the next. */
  memory: string | undefined = undefined;
  /**
   * Nobody wants the views any more. A read is forgotten at once, and an update that is on no line; one that was sent is
   * kept until the server is known to have it, or the line is gone.
   */
  cancelled = false;
  /** Where it went: the site that it was sent to first, the one it was sent to last, and how often it moved. */
  home: string | undefined = undefined;
  site: string | undefined = undefined;
  hop = 0;
  /** The first view that is not the last, of the present submission, and the server's number: mostly there are no others. */
  #first: SeenView | undefined = undefined;
  #firstSeq = 0;
  /** The latest views by the server's numbers, where there are several. */
  #seen: Map<number, SeenView> | undefined = undefined;
  /** Stops listening to the caller's signal. */
  release: (() => void) | undefined = undefined;

  constructor(parts: OperationParts, row: EncodedRow, outage: Outage) {
    this.id = parts.id;
    this.name = parts.name;
    this.effect = parts.effect;
    this.strongest = parts.strongest;
    this.sink = parts.sink;
    this.context = parts.context;
    this.row = row;
    this.#outage = outage;
  }

  get mayHaveLeft(): boolean {
    return this.line !== undefined || this.sentBefore;
  }

  get obstacle(): CorrectableError | undefined {
    return this.line === undefined ? this.#outage.obstacle : undefined;
  }

  /** Its size, if it may take a slow link so long that nothing is heard meanwhile. */
  get largeBytes(): number {
    const { length } = this.row;
    return length < ANNOUNCED_BYTES_MIN ? 0 : length;
  }

  /** Whether a server that remembers under the name `memory` may not know of it although another one does. */
  isUnknownTo(memory: string | undefined): boolean {
    return this.sentBefore && this.memory !== memory;
  }

  /** The line that it was submitted on is gone: it waits for another. */
  unbind(): void {
    const memory = this.line?.memory;
    this.memory = this.isUnknownTo(memory) ? undefined : memory;
    this.sentBefore = true;
    this.leaveLine();
  }

  /** It waits for another line, on which views of this one cannot be confirmed. */
  leaveLine(): void {
    if (this.line !== undefined) {
      this.line.awaited--;
      this.line.awaitedBytes -= this.largeBytes;
    }
    this.line = undefined;
    this.#first = undefined;
    this.#seen = undefined;
  }

  /** View `seq` of the server. */
  saw(seq: number, given: SeenView): void {
    if (this.#seen === undefined && (this.#first === undefined || this.#firstSeq === seq)) {
      this.#first = given;
      this.#firstSeq = seq;
      return;
    }
    this.#seen ??= new Map([[this.#firstSeq, this.#first as SeenView]]);
    this.#seen.delete(seq);
    this.#seen.set(seq, given);
    if (this.#seen.size <= SEQS_MAX) return;
    const [oldest] = this.#seen.keys();
    this.#seen.delete(oldest as number);
  }

  /** The server's view `seq`, to be confirmed, if it came and is not too long ago: it counts as of now. */
  seen(seq: number): SeenView | undefined {
    if (this.#seen === undefined) return this.#firstSeq === seq ? this.#first : undefined;
    const given = this.#seen.get(seq);
    // A later view with the same value was not sent: the next one of that value refers to this one again.
    if (given !== undefined) this.saw(seq, given);
    return given;
  }
}
