/**
 * Reads the messages of a reply as they arrive. Each one is a line of NDJSON, or the data of an
 * event.
 */
import { CorrectableError } from '../correctable/errors.ts';

/** Longest message that is read, in characters. */
const MAX_MESSAGE_LENGTH = 16_777_216;

/** Server-sent events may end their lines with any of these. The line within a pair is empty. */
const LINE_END = /[\r\n]/;

/**
 * Yields the text of each message. If the consumer stops reading, the rest of the reply is dropped.
 */
export async function* readLines(response: Response): AsyncGenerator<string, void> {
  // Some platforms, such as the DOM of Jest, cannot decode chunks, or have other streams.
  const reader = typeof TextDecoder === 'undefined' ? undefined : response.body?.getReader?.();
  const decoder = reader && new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? {
        done: true,
        value: undefined,
      };
      const chunk = decoder?.decode(value, { stream: !done }) ?? (await response.text());
      text += chunk;
      // A long message arrives in many chunks. Split it only once, when its end has arrived.
      const lines = done || LINE_END.test(chunk) ? text.split(LINE_END) : [text];
      text = done ? '' : lines.pop()!;
      for (const line of lines) {
        checkLength(line);
        const data = getData(line);
        if (data !== undefined) yield data;
      }
      checkLength(text);
      if (done) return;
    }
  } finally {
    // If the reply has ended, the connection can be reused for the next request. If the server goes
    // on sending, the reply is canceled.
    const ending = reader?.read().then(({ done }) => (done ? undefined : reader.cancel()));
    ending?.catch(() => {}); // The consumer has stopped reading, so no caller waits for a failure.
  }
}

function checkLength({ length }: string): void {
  if (length <= MAX_MESSAGE_LENGTH) return;
  throw new CorrectableError(
    'PROTOCOL',
    `a message is longer than ${MAX_MESSAGE_LENGTH} characters`,
  );
}

/**
 * Events have other lines beside their data: names, numbers, and comments that keep a connection
 * alive.
 */
function getData(line: string): string | undefined {
  // `trim` also removes byte order marks. A proxy that joins replies may leave them in the middle.
  const text = line.trim();
  const data = text.startsWith('data:') ? text.slice('data:'.length).trim() : text;
  return data.startsWith('{') ? data : undefined;
}
