/**
 * The shared part of a commit as the bytes of a checkpoint file, without the donor's own rows. Its
 * frames are made as they are read, and are the same each time.
 */
import { crc32 } from 'node:zlib';
import { getRedPositions, type SavedSiteState } from '../../log/recovered-state.ts';
import { getPart } from '../../service/records/checkpoint.ts';
import { formatCommit, formatRow, formatRows } from '../storage/format/checkpoint-file.ts';
import { FORMAT_VERSION } from '../storage/format/file-names.ts';
import { HEADER_BYTES, encodeFrame } from '../storage/format/frames.ts';
import { encodeValue } from '../storage/format/value-text.ts';
import type { HeldCommit } from '../storage/rows/row-commits.ts';
import { readSmallParts } from '../storage/rows/saved-state.ts';
import {
  walkSaved,
  type SavedCommit,
  type WalkCursor,
  type WalkedRow,
} from '../storage/rows/saved-walk.ts';
import { getFileNumber } from './transfer-messages.ts';

/** The content of the first frame of a transfer. */
export interface TransferHeader {
  readonly format: number;
  readonly transfer: string;
  /** The name of the site whose state it is. */
  readonly donor: string;
  /**
   * Whether no two rows have the same name. The version before sends some rows several times, and
   * the last one counts.
   */
  readonly isDistinct?: boolean;
}

/** How far frames were made. */
interface Cursor {
  /** The next frame: its offset in the transfer, its index, and the checksum of those before it. */
  readonly offset: number;
  readonly index: number;
  readonly sum: number;
  /** The place behind the last row; `undefined` before the first one. */
  readonly walked: WalkCursor | undefined;
  /** Whether all frames are made. */
  readonly isEnd: boolean;
}

/** The rows of the next frame. */
interface Draft {
  readonly walk: Iterator<WalkedRow, void>;
  rows: string[];
  characters: number;
  walked: WalkCursor | undefined;
}

const FRAME_CHARACTERS = 256 * 1024;
/** What one turn reads takes some milliseconds. */
const MAX_TURN_CHARACTERS = 64 * 1024;
const MAX_TURN_ROWS = 200;
/** How many created bytes are kept for repeated requests. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const START: Cursor = { offset: 0, index: 0, sum: 0, walked: undefined, isEnd: false };

export class SharedFrames {
  readonly #commit: SavedCommit;
  readonly #header: TransferHeader;
  /** The cursor of each created frame, so that a frame can be created again. */
  readonly #made: Cursor[] = [];
  #cursor = START;
  #draft: Draft | undefined;
  #buffered: { readonly offset: number; readonly frame: Buffer }[] = [];

  constructor({ cut, reader }: HeldCommit, header: Pick<TransferHeader, 'transfer' | 'donor'>) {
    const listed = Object.entries(cut.listed).filter(([name]) => this.isSent(name));
    this.#commit = { cut: { tables: cut.tables, listed: Object.fromEntries(listed) }, reader };
    this.#header = { format: FORMAT_VERSION, ...header, isDistinct: true };
  }

  /** Whether the section is sent. */
  protected isSent(section: string): boolean {
    return getPart(section) === 'shared';
  }

  /**
   * Returns up to `maxBytes` from `offset` on, fewer only at the end. Returns `undefined` if more
   * must be made first by `advance`.
   */
  read(
    offset: number,
    maxBytes: number,
  ): { readonly bytes: Uint8Array; readonly isLast: boolean } | undefined {
    this.#seek(offset);
    const { isEnd, offset: end } = this.#cursor;
    const to = offset + maxBytes;
    if (!isEnd && to > end) return undefined;
    const parts = this.#buffered.map(({ offset: start, frame }) =>
      frame.subarray(Math.max(0, offset - start), Math.max(0, to - start)),
    );
    return { bytes: Buffer.concat(parts), isLast: isEnd && to >= end };
  }

  /**
   * Makes a frame or a part of it, for some milliseconds.
   *
   * @throws Error if a row is missing or damaged
   */
  advance(): void {
    const { index, walked } = this.#cursor;
    if (index === 0) return this.#add(JSON.stringify(this.#header), START);
    const draft = (this.#draft ??= {
      walk: walkSaved(this.#commit, walked),
      rows: [],
      characters: 0,
      walked,
    });
    const maxCharacters = Math.min(FRAME_CHARACTERS, draft.characters + MAX_TURN_CHARACTERS);
    for (let rows = 0; rows < MAX_TURN_ROWS && draft.characters < maxCharacters; rows += 1) {
      const next = draft.walk.next();
      if (next.done === true) return this.#addEnd(draft);
      const { section, name, value } = next.value;
      const text = formatRow([section, name, value]);
      draft.rows.push(text);
      draft.characters += text.length;
      draft.walked = next.value.next;
    }
    if (draft.characters < FRAME_CHARACTERS) return;
    this.#add(formatRows(draft.rows.splice(0)), { walked: draft.walked, isEnd: false });
    draft.characters = 0;
  }

  /** Adds the last frame, with the small part of the state. */
  #addEnd({ rows, walked }: Draft): void {
    const { shared } = readSmallParts(this.#commit.reader) as SavedSiteState;
    const contained = getRedPositions(shared, 0);
    const { sum } = this.#cursor;
    const smallParts = encodeValue(shared);
    const text = formatCommit(rows, { smallParts, contained, retainedFrom: contained, sum });
    this.#add(text, { walked, isEnd: true });
    this.#draft = undefined;
  }

  #add(payload: string, { walked, isEnd }: Pick<Cursor, 'walked' | 'isEnd'>): void {
    const { offset, index, sum } = this.#cursor;
    const frame = encodeFrame(payload, { file: getFileNumber(this.#header.transfer), index });
    this.#made.push(this.#cursor);
    this.#buffered.push({ offset, frame });
    this.#cursor = {
      offset: offset + frame.length,
      index: index + 1,
      sum: crc32(frame.subarray(HEADER_BYTES), sum),
      walked,
      isEnd,
    };
  }

  /**
   * Drops frames before `offset`, except for the newest `MAX_BUFFERED_BYTES` of them. If the frame
   * at `offset` was dropped already, frames are made again from there.
   */
  #seek(offset: number): void {
    if (offset < (this.#buffered[0]?.offset ?? this.#cursor.offset)) {
      const back = this.#made.findLastIndex((made) => made.offset <= offset);
      this.#cursor = this.#made[back] as Cursor;
      this.#made.splice(back);
      this.#buffered = [];
      this.#draft = undefined;
    }
    while (this.#buffered.length > 1) {
      const next = (this.#buffered[1] as { readonly offset: number }).offset;
      if (next > offset || this.#cursor.offset - next < MAX_BUFFERED_BYTES) return;
      this.#buffered.shift();
    }
  }
}
