/** A page with React alone. */
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

function Stock() {
  const [left, setLeft] = useState(12);
  return <button onClick={() => setLeft(left - 1)}>{left} left</button>;
}

createRoot(document.querySelector('#root')).render(<Stock />);
