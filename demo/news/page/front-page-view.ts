/** Shows the front page: a step for each level, and the headlines. */
import { byId, make, setText } from '../../shared/page/dom.ts';
import { MAX_HEADLINES } from '../contract.ts';
import {
  getLatestView,
  getStepState,
  listShownStories,
  STEPS,
  type Step,
} from './front-page-reading.ts';
import type { NewsReader } from './reader.ts';
import { formatHeadline, formatStep, formatStepNote, formatStepTime } from './texts.ts';

const CLASSES: Readonly<Record<Step, string>> = { cache: 'early', causal: 'near', strong: 'good' };

/** @returns a function that shows the present state of the front page */
export function createFrontPageView(reader: NewsReader): () => void {
  const headline = byId('headline', HTMLParagraphElement);
  const showSteps = STEPS.map((step) => createStep(reader, step));
  const showStories = createStories();
  return () => {
    setText(headline, formatHeadline(reader.frontPage));
    for (const showStep of showSteps) showStep();
    showStories(reader);
  };
}

function createStep(reader: NewsReader, step: Step): () => void {
  const [name, time, note] = [make('span', 'name'), make('span', 'figure'), make('span', 'hint')];
  const item = make('li', CLASSES[step], make('code', 'level', step), name, time, note);
  byId('steps', HTMLOListElement).append(item);
  return () => {
    const state = getStepState(reader.frontPage, step);
    item.dataset['state'] = state.kind;
    item.dataset['step'] = step;
    setText(name, formatStep(step, reader.site));
    setText(time, formatStepTime(state));
    setText(note, formatStepNote(step, state, Date.now()));
  };
}

/**
 * Creates the rows of the headlines. They always exist, so that new headlines do not shift the
 * page.
 */
function createStories(): (reader: NewsReader) => void {
  const rows = Array.from({ length: MAX_HEADLINES }, () => {
    const [title, detail] = [make('span', 'title'), make('span', 'hint')];
    const item = make('li', '', title, detail);
    byId('stories', HTMLOListElement).append(item);
    return { item, title, detail };
  });
  return ({ frontPage }) => {
    const level = getLatestView(frontPage)?.level ?? 'none';
    const stories = listShownStories(frontPage);
    for (const [at, { item, title, detail }] of rows.entries()) {
      const story = stories[at];
      item.dataset['level'] = level;
      item.dataset['new'] = story?.isNewAt ?? '';
      setText(title, story?.headline ?? ' ');
      setText(
        detail,
        story === undefined ? ' ' : `${story.place}${story.isNewAt === undefined ? '' : ' · new'}`,
      );
    }
  };
}
