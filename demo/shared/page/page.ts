/** Assembles a page: buttons, both lanes, and the sums. */
import { WAYS, type Way } from '../speculation/application.ts';
import { askAbout, type About } from './about.ts';
import { adviceFor } from './advice.ts';
import { formatTargetText, formatStatusText } from './status-text.ts';
import { byId, make, setText } from './dom.ts';
import { isBusy, Race, type Heat, type PageApplication } from './side-by-side-run.ts';
import { formatSite } from './site-names.ts';
import { slowClock, wantsNoMotion } from './replay.ts';
import { stepItem, getSteps, type Step } from './step-texts.ts';
import { sumsView } from './totals-table.ts';
import { timeline } from './timeline.ts';
import { Trace } from './trace.ts';

export interface PageDemo<T> extends PageApplication<T> {
  /** The name of the referenced things, in the plural. */
  readonly things: string;
  /** Whether the things have content that is fetched over HTTP. */
  readonly hasContent: boolean;
  /** A thing as an item of a list. */
  item(thing: T): HTMLElement;
}

const MANY = 50;
/** The user for whom the page fetches first, if there is such a user. */
const FIRST_USER = 7;

/** Runs the page and its first request. Shows failures of the start. */
export async function runPage<T>(demo: PageDemo<T>): Promise<void> {
  try {
    warmUpDrawing(demo.things);
    const about = await askAbout();
    const show = pageView(demo);
    const race = new Race(demo, about, () => show(race));
    byId('content-key', HTMLLIElement).hidden = !demo.hasContent;
    const user = wire(race, about);
    await race.connect(about.sites[0] as string);
    if (race.asked === undefined) await race.run([user.valueAsNumber]);
  } catch (error) {
    showFailure(error);
    throw error;
  }
}

/**
 * Draws a request that nobody sees. The first drawing takes about 100 milliseconds, in which the
 * answers of the first request would wait.
 */
function warmUpDrawing(things: string): void {
  const trace = new Trace('correctable');
  trace.references([], false);
  trace.fetching([], undefined);
  trace.references([], true);
  trace.delivered();
  timeline(trace, { endMs: AXIS_MS_MIN, untilMs: AXIS_MS_MIN, things, width: 0 });
}

/** @returns the field for the user's number */
function wire<T>(race: Race<T>, about: About): HTMLInputElement {
  const site = byId('site', HTMLSelectElement);
  const user = byId('user', HTMLInputElement);
  for (const name of about.sites) site.append(new Option(formatSite(name), name));
  user.max = String(about.users - 1);
  user.value = String(Math.min(FIRST_USER, about.users - 1));
  const anybody = (): number => Math.floor(Math.random() * about.users);
  site.addEventListener('change', () => void race.connect(site.value));
  byId('another', HTMLButtonElement).addEventListener(
    'click',
    () => (user.value = String(anybody())),
  );
  const onClick = (id: string, run: () => Promise<void>): void => {
    byId(id, HTMLButtonElement).addEventListener('click', () => {
      if (!isBusy(race.phase) && user.reportValidity()) void run();
    });
  };
  onClick('fetch', () => race.run([user.valueAsNumber]));
  onClick('change', () => race.run([user.valueAsNumber], { change: true }));
  onClick('many', () => race.run(Array.from({ length: MANY }, anybody)));
  return user;
}

/** Shows the state of the race, and draws the latest heat. */
function pageView<T>(demo: PageDemo<T>): (race: Race<T>) => void {
  const status = byId('status', HTMLParagraphElement);
  const showSums = sumsView();
  let latest: Race<T> | undefined;
  let isSlow = false;
  // Do not show a result in the status before the slow clock has drawn it.
  const showStatus = (): void => {
    if (latest !== undefined) setText(status, formatStatusText(latest, isSlow));
  };
  const showHeat = lanesView(demo, (isEnd) => {
    isSlow = !isEnd;
    showStatus();
    if (isEnd && latest !== undefined) showSums(latest.heats);
  });
  let shown: Heat<T> | undefined;
  return (race) => {
    latest = race;
    showState(race, demo.things);
    showStatus();
    if (!isSlow || (race.asked?.of ?? 1) > 1) showSums(race.heats);
    // If the visitor wants no motion, no clock draws later deliveries, so draw them here.
    if (race.heat === shown && !wantsNoMotion()) return;
    shown = race.heat;
    showHeat(shown);
  };
}

/** The axis is a little longer than the last delivery. */
const AXIS_ROOM = 1.04;

/** The end of the axis before the first request, in milliseconds. */
const AXIS_MS_MIN = 20;

/**
 * @param onShow called with each drawing, with whether the drawing is complete
 * @returns a function that draws a heat, or an empty lane
 */
function lanesView<T>(
  { things, item }: PageDemo<T>,
  onShow: (isEnd: boolean) => void,
): (heat: Heat<T> | undefined) => void {
  const run = slowClock();
  const showLists = listsView<T>(things, item);
  let redraw = (): void => {};
  let again = (): void => {};
  new ResizeObserver(() => redraw()).observe(byId('baseline-timeline', HTMLDivElement));
  for (const choice of speeds()) choice.addEventListener('change', () => again());
  return (heat) => {
    const endMs = (): number | undefined => {
      const ends = WAYS.map((way) =>
        heat?.items[way] === undefined ? Infinity : heat.traces[way].deliveredMs,
      );
      const last = Math.max(...ends.map((end) => end ?? Infinity));
      return heat === undefined ? 0 : Number.isFinite(last) ? AXIS_ROOM * last : undefined;
    };
    const show = (untilMs: number): void => {
      const axisMs = endMs() ?? Math.max(AXIS_MS_MIN, 1.2 * untilMs);
      for (const way of WAYS) drawTimeline(heat, way, { endMs: axisMs, untilMs, things });
      showLists(heat, untilMs);
      redraw = () => show(untilMs);
      onShow(AXIS_ROOM * untilMs >= (endMs() ?? Infinity));
    };
    const nowMs = (): number => heat?.traces.baseline.nowMs() ?? 0;
    // Run it even if there is nothing to show, because that ends the drawing before.
    again = () =>
      run({ endMs, nowMs, show }, Number(speeds().find(({ checked }) => checked)?.value ?? 1));
    again();
  };
}

/**
 * Returns the controls with the speeds of the clock: how many times slower than real time it runs.
 */
function speeds(): readonly HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>('input[name="slower"]')];
}

/** @returns a function that lists the steps up to a time, and the things delivered by then */
function listsView<T>(
  things: string,
  item: (thing: T) => HTMLElement,
): (heat: Heat<T> | undefined, untilMs: number) => void {
  const shown = new Map<Way, string>();
  return (heat, untilMs) => {
    for (const way of WAYS) {
      const steps = heat === undefined ? [] : getSteps(heat.traces[way], heat.user, things);
      const passed = steps.filter(({ atMs }) => atMs <= untilMs);
      const isDelivered = passed.some(({ name }) => name === 'Delivered');
      const key = `${heat?.user} ${passed.map(({ atMs }) => atMs).join(' ')} ${isDelivered && heat?.items[way] !== undefined}`;
      if (shown.get(way) === key) continue;
      shown.set(way, key);
      byId(`${way}-steps`, HTMLOListElement).replaceChildren(...passed.map(stepItem));
      byId(`${way}-items`, HTMLUListElement).replaceChildren(
        ...(isDelivered ? (heat?.items[way] ?? []) : []).map(item),
      );
      byId(`${way}-timeline`, HTMLDivElement).setAttribute('aria-label', spoken(passed));
    }
  };
}

function spoken(steps: readonly Step[]): string {
  return (
    steps.map(({ name, text, atMs }) => `${name} at ${atMs.toFixed(0)} ms: ${text}`).join('. ') ||
    'Nothing delivered'
  );
}

interface Drawing {
  readonly endMs: number;
  readonly untilMs: number;
  readonly things: string;
}

function drawTimeline<T>(heat: Heat<T> | undefined, way: Way, drawing: Drawing): void {
  const place = byId(`${way}-timeline`, HTMLDivElement);
  const generated =
    heat === undefined
      ? []
      : [timeline(heat.traces[way], { ...drawing, width: place.clientWidth })];
  place.replaceChildren(...generated);
}

function showState<T>(race: Race<T>, things: string): void {
  const status = byId('status', HTMLParagraphElement);
  status.dataset['phase'] = race.phase;
  setText(byId('asked', HTMLParagraphElement), formatTargetText(race.asked, things));
  for (const way of WAYS) byId(`${way}-lane`, HTMLElement).hidden = !hasLanes(race);
  const busy = String(isBusy(race.phase));
  for (const id of ['fetch', 'change', 'many'])
    byId(id, HTMLButtonElement).setAttribute('aria-disabled', busy);
  if (race.phase === 'failed') showFailure(race.failure);
  else byId('failure', HTMLElement).hidden = true;
}

/** Returns whether the lanes show something, or will soon do so. */
function hasLanes({ phase, asked: requested, heat }: Race<unknown>): boolean {
  if (requested === undefined) return phase !== 'failed';
  return heat !== undefined || (requested.state === 'in flight' && requested.of === 1);
}

function showFailure(failure: unknown): void {
  const status = byId('status', HTMLParagraphElement);
  status.dataset['phase'] = 'failed';
  setText(status, 'Failed');
  const { title, advice } = adviceFor(failure);
  byId('failure', HTMLElement).hidden = false;
  setText(byId('failure-title', HTMLHeadingElement), title);
  setText(byId('failure-advice', HTMLParagraphElement), advice);
  setText(
    byId('failure-detail', HTMLParagraphElement),
    failure instanceof Error ? failure.message : String(failure),
  );
}

/**
 * Creates an image element of an SVG picture. Content from the network is not inserted into the
 * page itself.
 */
export function picture(svg: string): HTMLImageElement {
  const image = make('img', '');
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  image.alt = '';
  return image;
}
