/** Shows the comments as one of the stores has them. */
import { make, setText } from '../../shared/page/dom.ts';
import { countHeld, MAX_SHOWN, type Comment, type Conversation } from '../comments.ts';
import type { NewsReader, ShownThread } from './reader.ts';
import { formatVerdict } from './texts.ts';

export interface ThreadViewOptions {
  readonly section: HTMLElement;
  readonly reader: NewsReader;
  readonly thread: ShownThread;
  /** A store that may show comments earlier. */
  readonly other?: ShownThread;
  /** Called with the question that the visitor wants to answer. */
  readonly onAnswer?: (question: Comment) => void;
}

/** @returns a function that shows the present state of the thread */
export function createThreadView({
  section,
  reader,
  thread,
  other,
  onAnswer,
}: ThreadViewOptions): () => void {
  const list = section.querySelector('ol') as HTMLOListElement;
  const verdict = section.querySelector('.verdict') as HTMLParagraphElement;
  let shown: string | undefined;
  return () => {
    const { conversations, faults } = thread;
    const held =
      conversations === undefined ? 0 : countHeld(conversations, other?.conversations ?? []);
    const isWrong = faults.orphans + faults.missing > 0;
    setText(verdict, conversations === undefined ? 'Waiting…' : formatVerdict(faults, held));
    verdict.dataset['state'] =
      conversations === undefined ? 'waiting' : isWrong ? 'wrong' : 'right';
    const visible = conversations?.slice(0, MAX_SHOWN) ?? [];
    // Do not redraw unchanged rows, which may have the focus.
    const next = JSON.stringify([visible, conversations === undefined]);
    if (next === shown) return;
    shown = next;
    list.replaceChildren(
      ...(visible.length === 0
        ? [make('li', 'hint', 'No comments here yet.')]
        : visible.map(toItem)),
    );
  };

  function toItem({ question, answers }: Conversation): HTMLLIElement {
    const first =
      question === undefined
        ? make('p', 'missing', 'The question is not here.')
        : make('p', 'comment', ...describe(question), ...createAnswerButton(question));
    const replies = answers.map((answer) => make('p', 'comment answer', ...describe(answer)));
    return make('li', question === undefined ? 'orphan' : '', first, ...replies);
  }

  function describe(comment: Comment): (Node | string)[] {
    const isOwn = reader.isOwn(comment);
    return [make('b', isOwn ? 'own' : '', isOwn ? 'You' : comment.author), ` ${comment.text} `];
  }

  function createAnswerButton(question: Comment): HTMLButtonElement[] {
    if (onAnswer === undefined) return [];
    const button = make('button', 'link', 'Answer');
    button.type = 'button';
    button.setAttribute('aria-label', `Answer: ${question.text}`);
    button.addEventListener('click', () => onAnswer(question));
    return [button];
  }
}
