/**
 * Ann and Bob, and the newsroom in Dublin: other people, who stay online when the reader is
 * offline.
 */
import type { Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { openRoom, type CommentRoom } from '../comment-room.ts';
import { news, type Story } from '../contract.ts';
import { converse, writeScript } from '../conversation.ts';
import { chooseHeadline } from '../headlines.ts';
import { NEWSROOM, type Site } from '../sites.ts';
import { connectCommenter, connectCopyCommenter, connectNewsroom } from './connections.ts';
import { setLine } from './server-state.ts';
import type { PlayStep } from './texts.ts';

/** How long a visitor can see an answer without its question. */
const LOOK_MS = 5_000;
const SHOWN_REPAIRED_MS = 4_000;

interface People {
  readonly ann: CommentRoom;
  readonly bob: CommentRoom;
  readonly annOfCopies: CommentRoom;
  readonly bobOfCopies: CommentRoom;
}

export class Play {
  readonly #writer: number;
  readonly #onChange: () => void;
  #people: People | undefined;
  /**
   * Connected from the start. Otherwise, a read that begins with the first publication could reach
   * Dublin before the headline does.
   */
  readonly #newsroom: Client<RedBlueLevels> = connectNewsroom(NEWSROOM);
  #plays = 0;
  step: PlayStep = 'idle';

  /**
   * @param writer the writer number of the people of this page, each of whom is at a different site
   */
  constructor(writer: number, onChange: () => void) {
    this.#writer = writer;
    this.#onChange = onChange;
  }

  /** Lets Dublin publish a headline that is not on the front page. */
  async publish(shown: readonly Story[]): Promise<void> {
    await this.#newsroom.invoke(news.publish(chooseHeadline(shown)));
  }

  /** Plays one conversation while the line is cut, then repairs the line. */
  async converse(): Promise<void> {
    if (this.step !== 'idle') return;
    const { ann, bob, annOfCopies, bobOfCopies } = (this.#people ??= connectPeople(this.#writer));
    const number = this.#plays++;
    const script = writeScript(
      this.#writer + number,
      `${this.#writer}-${number}-${Date.now()}`,
      Date.now(),
    );
    try {
      this.#setStep('asking');
      await setLine('cut');
      await Promise.all([converse(ann, bob, script), converse(annOfCopies, bobOfCopies, script)]);
      this.#setStep('waiting');
      await pause(LOOK_MS);
      this.#setStep('repaired');
    } finally {
      await setLine('repair').catch(() => {});
    }
    await pause(SHOWN_REPAIRED_MS);
    this.#setStep('idle');
  }

  #setStep(step: PlayStep): void {
    this.step = step;
    this.#onChange();
  }
}

function connectPeople(writer: number): People {
  const open = (site: Site): CommentRoom => {
    const client = connectCommenter(site);
    return openRoom({ site, writer, client, session: client.session() });
  };
  const openCopy = (site: Site): CommentRoom =>
    openRoom({ site, writer, client: connectCopyCommenter(site) });
  return {
    ann: open('dublin'),
    bob: open('oregon'),
    annOfCopies: openCopy('dublin'),
    bobOfCopies: openCopy('oregon'),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
