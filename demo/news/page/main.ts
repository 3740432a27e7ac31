/** The news page. */
import { byId, make, setText } from '../../shared/page/dom.ts';
import { followState } from '../../shared/page/follow-state.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import type { Comment } from '../comments.ts';
import type { NewsState } from '../server.ts';
import { SITES } from '../sites.ts';
import { createFrontPageView } from './front-page-view.ts';
import { getLatestView } from './front-page-reading.ts';
import { Play } from './play.ts';
import { NewsReader } from './reader.ts';
import { getWriter, setLine } from './server-state.ts';
import {
  formatMove,
  formatPhase,
  formatPlay,
  formatPost,
  formatServer,
  formatThreadMs,
  formatTimesWrong,
  type Phase,
} from './texts.ts';
import { createThreadView } from './thread-view.ts';

const FAILURE =
  'The news server does not answer. Start it with “npm run demo”: this page then goes on by itself.';
const STATE_EVERY_MS = 500;
/** The pause before the front page is opened again for the first time, while Dublin publishes. */
const FIRST_PAUSE_MS = 1_500;

const writer = await waitForWriter();
const reader = new NewsReader(writer, draw);
const play = new Play(writer + 1, draw);
let state: NewsState | undefined;
let answered: Comment | undefined;
let isDrawing = false;

const [text, offline, line] = [
  byId('text', HTMLInputElement),
  byId('offline', HTMLButtonElement),
  byId('line', HTMLButtonElement),
];
const notAnswer = byId('not-answer', HTMLButtonElement);
const radios = createSites();
const views = [
  createFrontPageView(reader),
  createThreadView({
    section: byId('causal', HTMLElement),
    reader,
    thread: reader.causal,
    other: reader.copies,
    onAnswer: (question) => setAnswered(question),
  }),
  createThreadView({ section: byId('copies', HTMLElement), reader, thread: reader.copies }),
  showControls,
];

byId('open', HTMLButtonElement).addEventListener('click', () => reader.openFrontPage());
byId('publish', HTMLButtonElement).addEventListener('click', openWhilePublishing);
byId('play', HTMLButtonElement).addEventListener('click', converse);
offline.addEventListener('click', () => reader.setOffline(!reader.isOffline));
line.addEventListener('click', () => void switchLine());
notAnswer.addEventListener('click', () => setAnswered(undefined));
byId('form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void postComment();
});

show();
byId('news', HTMLElement).hidden = false;
byId('footer', HTMLElement).hidden = false;
void reader.follow();
reader.openFrontPage();
void playFirst();
await followState<NewsState>({
  everyMs: STATE_EVERY_MS,
  failureText: FAILURE,
  show: (next) => {
    state = next;
    draw();
  },
});

/** Waits for the server, which may be started after the page was opened. */
async function waitForWriter(): Promise<number> {
  for (;;) {
    try {
      return await getWriter();
    } catch {
      setText(byId('status', HTMLParagraphElement), FAILURE);
      await pause(STATE_EVERY_MS);
    }
  }
}

/** Plays both halves of the page once, for a visitor who does nothing. */
async function playFirst(): Promise<void> {
  await pause(FIRST_PAUSE_MS);
  openWhilePublishing();
  await pause(FIRST_PAUSE_MS);
  if (reader.causal.conversations?.length === 0) converse();
}

function openWhilePublishing(): void {
  // Do not wait for the publication, so that the views show it at different times.
  void play.publish(getLatestView(reader.frontPage)?.stories ?? []).catch(() => {});
  reader.openFrontPage();
}

function converse(): void {
  void play.converse().catch(() => {});
}

async function switchLine(): Promise<void> {
  await setLine(state?.isCut === true ? 'repair' : 'cut').catch(() => {});
}

async function postComment(): Promise<void> {
  const [written, answerTo] = [text.value.trim(), answered?.id];
  if (written === '') return;
  // Keep the text of a refused comment, so that it can be posted again.
  if (!(await reader.postComment(written, answerTo))) return;
  if (text.value.trim() === written) text.value = '';
  if (answered?.id === answerTo) setAnswered(undefined);
}

function setAnswered(question: Comment | undefined): void {
  answered = question;
  setText(
    byId('form-label', HTMLSpanElement),
    question === undefined ? 'Your comment' : `Your answer to ${question.author}`,
  );
  notAnswer.hidden = question === undefined;
  if (question !== undefined) text.focus();
}

function createSites(): readonly HTMLInputElement[] {
  return SITES.map((site) => {
    const radio = make('input', '');
    Object.assign(radio, {
      type: 'radio',
      name: 'site',
      value: site,
      checked: site === reader.site,
    });
    radio.addEventListener('change', () => reader.moveTo(site));
    byId('sites', HTMLDivElement).append(
      make('label', '', radio, make('span', '', formatSite(site))),
    );
    return radio;
  });
}

/** Draws with the next frame, however many changes come before it. */
function draw(): void {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(show);
}

function show(): void {
  isDrawing = false;
  for (const view of views) view();
}

function showControls(): void {
  const isCut = state?.isCut === true;
  const phase = getPhase();
  const status = byId('status', HTMLParagraphElement);
  status.dataset['phase'] = phase;
  setText(status, formatPhase(phase));
  for (const radio of radios) radio.checked = radio.value === reader.site;
  setText(offline, reader.isOffline ? 'Go online' : 'Go offline');
  offline.setAttribute('aria-pressed', String(reader.isOffline));
  setText(line, isCut ? 'Repair the line Dublin–Sydney' : 'Cut the line Dublin–Sydney');
  line.setAttribute('aria-pressed', String(isCut));
  byId('play', HTMLButtonElement).setAttribute('aria-disabled', String(play.step !== 'idle'));
  setText(byId('play-text', HTMLParagraphElement), formatPlay(play.step, reader.site, isCut));
  setText(byId('move', HTMLParagraphElement), formatMove(reader.move, reader.site));
  setText(byId('post', HTMLParagraphElement), formatPost(reader.post));
  setText(
    byId('times-wrong', HTMLParagraphElement),
    reader.isOffline ? 'Offline: shown as it was.' : formatTimesWrong(reader.copies.timesWrong),
  );
  setText(
    byId('thread-ms', HTMLParagraphElement),
    reader.isOffline ? 'Offline: read from this device.' : formatThreadMs(reader.threadMs),
  );
  if (state !== undefined) setText(byId('server', HTMLSpanElement), formatServer(state));
}

function getPhase(): Phase {
  if (reader.isOffline) return 'offline';
  if (reader.frontPage.failure === 'failed') return 'failed';
  return reader.causal.conversations === undefined && reader.move.kind !== 'waiting'
    ? 'connecting'
    : 'ready';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
