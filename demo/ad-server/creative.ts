/**
 * Fetches creatives from the content service: in batches, with a limited number of concurrent
 * requests, until they are canceled.
 */
import type { AxiosInstance } from 'axios';

/** The text and the media of an ad. */
export interface Creative {
  readonly name: string;
  /** By language. */
  readonly texts: Readonly<Record<string, string>>;
  /** A picture, as SVG. */
  readonly media: string;
}

/** Fetches creatives by name, in the order of the names. */
export type ContentSource = (
  names: readonly string[],
  signal: AbortSignal | undefined,
) => Promise<Creative[]>;

/** The maximum number of names in one request. */
export const CREATIVES_PER_REQUEST_MAX = 20;
/**
 * The maximum number of concurrent requests. Browsers allow six to one host, and a page may serve
 * two users at a time.
 */
const REQUESTS_MAX = 3;

/**
 * Creates a source that fetches creatives over HTTP.
 *
 * @param http an instance of axios whose `baseURL` is that of the content service
 */
export function contentOver(http: AxiosInstance): ContentSource {
  return async (names, signal) => {
    const batches: (readonly string[])[] = [];
    for (let from = 0; from < names.length; from += CREATIVES_PER_REQUEST_MAX) {
      batches.push(names.slice(from, from + CREATIVES_PER_REQUEST_MAX));
    }
    const answers: Creative[][] = [];
    const queue = batches.entries();
    const work = async (): Promise<void> => {
      for (const [place, batch] of queue) {
        const config = {
          params: { creatives: batch.join(',') },
          ...(signal !== undefined && { signal }),
        };
        answers[place] = (await http.get<Creative[]>('', config)).data;
      }
    };
    await Promise.all(Array.from({ length: Math.min(REQUESTS_MAX, batches.length) }, work));
    return answers.flat();
  };
}
