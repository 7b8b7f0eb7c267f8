/** @jsxImportSource react */
import 'uplot/dist/uPlot.min.css';
import './console.css';
import { createRoot } from 'react-dom/client';
import { Console } from './app.tsx';

// The library React Aria would add a style element to the page, but the content security policy of the page does not
// allow style elements. The file console.css therefore contains the CSS rule that React Aria cannot add. React Aria
// adds no style element if the page already has an element with the id `react-aria-pressable-style`.
const mark = document.createElement('meta');
mark.id = 'react-aria-pressable-style';
document.head.append(mark);

// The link "Skip to the content" must not change the part of the address after `#`, because this part contains the name
// of the console view.
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  document.getElementById('content')?.focus();
});

createRoot(document.getElementById('console')!).render(<Console />);
