/** One opening of the front page: the views so far, and the failure if one is missing. */
import { type Story } from '../contract.ts';
import type { NewsView } from '../front-page.ts';

/** The steps that the page shows. A view at `tentative` belongs to no step: only writers get it. */
export const STEPS = ['cache', 'causal', 'strong'] as const;
export type Step = (typeof STEPS)[number];

export interface FrontPageReading {
  readonly views: readonly NewsView[];
  /** Why no stronger view arrives. */
  readonly failure?: Failure | undefined;
}

export type Failure = 'offline' | 'failed';

/** The stories to draw, each with the level of the first view that had it. */
export interface ShownStory extends Story {
  /** The level that brought the story, unless the first view had it already. */
  readonly isNewAt: Step | undefined;
}

export const NOTHING_READ: FrontPageReading = { views: [] };

export function addView(reading: FrontPageReading, view: NewsView): FrontPageReading {
  return view.level === 'tentative' ? reading : { ...reading, views: [...reading.views, view] };
}

export function getLatestView({ views }: FrontPageReading): NewsView | undefined {
  return views.at(-1);
}

export function listShownStories({ views }: FrontPageReading): readonly ShownStory[] {
  const latest = views.at(-1);
  return (latest?.stories ?? []).map((story) => {
    const first = views.findIndex(({ stories }) => stories.some(({ id }) => id === story.id));
    return { ...story, isNewAt: first > 0 ? (views[first]?.level as Step) : undefined };
  });
}

export type StepState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'skipped' }
  | { readonly kind: Failure }
  | {
      readonly kind: 'done';
      readonly view: NewsView;
      readonly newStories: number;
      /** Whether nothing was shown before. */
      readonly isFirst: boolean;
    };

/** Returns the state of a step. A step is skipped if a stronger one has answered without it. */
export function getStepState({ views, failure }: FrontPageReading, step: Step): StepState {
  const at = views.findIndex(({ level }) => level === step);
  const view = views[at];
  if (view !== undefined)
    return { kind: 'done', view, newStories: countNew(views[at - 1], view), isFirst: at === 0 };
  if (failure !== undefined) return { kind: failure };
  const isPassed = views.some(({ level }) => STEPS.indexOf(level as Step) > STEPS.indexOf(step));
  return { kind: isPassed ? 'skipped' : 'waiting' };
}

function countNew(before: NewsView | undefined, view: NewsView): number {
  if (before === undefined) return 0;
  const known = new Set(before.stories.map(({ id }) => id));
  return view.stories.filter(({ id }) => !known.has(id)).length;
}
