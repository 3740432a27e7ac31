/** Runs in the landing page: opens the same shop three ways at the same moment, and shows what each took. */
import { byId, setText } from '../../shared/page/dom.ts';
import { capitalize } from '../../shared/page/format.ts';
import { prepareClick, type RunningClick } from '../click.ts';
import { measure } from '../measures.ts';
import { isStaleClick, type Scenario } from '../scenario.ts';
import { TIMEOUT_MS } from '../store.ts';
import { describe, describeRound, summarize, tally, type Round } from '../texts.ts';
import { WAY_NAMES, type WayName } from '../ways/ways.ts';
import { wireControls, type Break, type Settings } from './controls.ts';
import { addMultiple, clearMultiples, drawAxis, drawLanes } from './lanes.ts';
import { paneView } from './pane.ts';

const CLICKS_PER_RUN = 20;
/** The pause between two clicks of a run, long enough to read the prices. */
const GAP_MS = 450;
/** The pause after a click with a stale copy, at which the three ways differ most. */
const STALE_GAP_MS = 1_800;
const CALM: Omit<Scenario, 'distanceMs'> = { isStale: false, isLastOne: false, isCut: false };
/** The length of the time axis in round trips: two reads, then a part of the answer to Buy. */
const AXIS_TRIPS = 2.3;

type Clicks = Readonly<Record<WayName, RunningClick>>;

const panes = { await: paneView('await'), stale: paneView('stale'), correctables: paneView('correctables') };
const settings = wireControls({
  changed: () => void run(),
  toggleRun: () => (isRunning ? stop() : void run()),
  clickOnce: () => void single({ ...CALM, distanceMs: settings().distanceMs }, false),
  break: (what) => void breakIt(what),
});

/** Aborted when something else is played. */
let current = new AbortController();
let isRunning = false;
let latest: Clicks | undefined;

void run();

async function run(): Promise<void> {
  const { signal } = begin();
  const chosen = settings();
  const rounds: Round[] = [];
  clearMultiples();
  showRunning(true);
  for (let n = 0; n < CLICKS_PER_RUN && !signal.aborted; n += 1) {
    await whenVisible();
    const { distanceMs, staleShare } = chosen;
    const isStale = isStaleClick(n, staleShare, CLICKS_PER_RUN);
    const clicks = await play({ ...CALM, distanceMs, isStale }, { signal, buysAtOnce: true });
    // A hidden page has slow timers: so do not count this click.
    if (clicks === undefined || document.hidden) continue;
    rounds.push(showRound(clicks, chosen));
    const { headline, others } = summarize(rounds, distanceMs);
    setText(byId('headline', HTMLElement), headline);
    setText(byId('others', HTMLElement), others);
    showTally(rounds);
    await pause(isStale ? STALE_GAP_MS : GAP_MS);
  }
  if (!signal.aborted) showRunning(false);
}

function showRound(clicks: Clicks, { distanceMs }: Settings): Round {
  const round = showOutcome(clicks);
  addMultiple(clicks, AXIS_TRIPS * distanceMs, describeRound(round));
  return round;
}

/** Plays one click that is not part of a run, and describes it. */
async function single(scenario: Scenario, buysAtOnce: boolean): Promise<void> {
  const { signal } = begin();
  showRunning(false);
  const clicks = await play(scenario, { signal, buysAtOnce });
  if (clicks !== undefined) showTally([showOutcome(clicks)]);
}

/** Describes a click, in its panes and for people who cannot see them. */
function showOutcome(clicks: Clicks): Round {
  const round = toRound(clicks);
  setText(byId('spoken', HTMLElement), describeRound(round));
  for (const way of WAY_NAMES) setText(byId(`${way}-outcome`, HTMLElement), `${capitalize(describe(round[way]))}.`);
  return round;
}

/** Counts the wrong sales of each way, so that their difference stays in sight. */
function showTally(rounds: readonly Round[]): void {
  for (const way of WAY_NAMES) {
    const place = byId(`${way}-wrong`, HTMLElement);
    const { text, isWrong } = tally(rounds, way);
    setText(place, text);
    place.classList.toggle('bad', isWrong);
  }
}

async function breakIt(what: Break): Promise<void> {
  const { distanceMs } = settings();
  const scenario = {
    ...CALM,
    distanceMs,
    isStale: what === 'stale',
    isLastOne: what === 'last',
    isCut: what === 'cut',
  };
  await single(scenario, true);
}

function stop(): void {
  current.abort();
  showRunning(false);
}

function begin(): AbortController {
  current.abort();
  current = new AbortController();
  return current;
}

interface Play {
  /** Aborts when something else is played: then this click is no longer shown. */
  readonly signal: AbortSignal;
  readonly buysAtOnce: boolean;
}

/**
 * Opens the page all three ways at once. Resolves when all have settled, or with `undefined` if another click is played
 * meanwhile.
 */
async function play(scenario: Scenario, { signal, buysAtOnce }: Play): Promise<Clicks | undefined> {
  const isShown = (): boolean => !signal.aborted;
  const onStep = (click: RunningClick): void => (isShown() ? panes[click.way].show(click) : undefined);
  const prepared = await Promise.all(WAY_NAMES.map((way) => prepareClick(way, { scenario, buysAtOnce, onStep })));
  const before = latest;
  if (!isShown()) {
    for (const start of prepared) void start().close();
    return undefined;
  }
  const [plain, stale, correctables] = prepared.map((start) => start()) as [RunningClick, RunningClick, RunningClick];
  const clicks = (latest = { await: plain, stale, correctables });
  for (const way of WAY_NAMES) {
    panes[way].show(clicks[way]);
    setText(byId(`${way}-outcome`, HTMLElement), '');
    void before?.[way].close();
  }
  const endMs = scenario.isCut ? 1.1 * TIMEOUT_MS : AXIS_TRIPS * scenario.distanceMs;
  drawAxis(endMs);
  animate(clicks, endMs, isShown);
  await Promise.all(WAY_NAMES.map((way) => clicks[way].settled));
  return isShown() ? clicks : undefined;
}

/** Animates bars and stopwatches until the end of the axis. */
function animate(clicks: Clicks, endMs: number, isShown: () => boolean): void {
  const draw = (): void => {
    if (!isShown()) return;
    const passedMs = performance.now() - clicks.await.beganAt;
    drawLanes(clicks, passedMs, endMs);
    for (const way of WAY_NAMES) panes[way].tick(clicks[way]);
    if (passedMs < endMs) requestAnimationFrame(draw);
  };
  draw();
}

const toRound = (clicks: Clicks): Round => ({
  await: measure(clicks.await),
  stale: measure(clicks.stale),
  correctables: measure(clicks.correctables),
});

function showRunning(isOn: boolean): void {
  isRunning = isOn;
  setText(byId('run', HTMLButtonElement), isOn ? 'Stop' : `Run ${CLICKS_PER_RUN} clicks`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function whenVisible(): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener('visibilitychange', () => resolve(), { once: true }));
}
