/** @jsxImportSource react */
import 'uplot/dist/uPlot.min.css';
import './console.css';
import { createRoot } from 'react-dom/client';
import { Console } from './app.tsx';

// React Aria adds a style element to the page, unless an element with the id `react-aria-pressable-style` exists. The
// content security policy of the pages blocks style elements. So console.css contains the CSS rule that React Aria
// would add.
const mark = document.createElement('meta');
mark.id = 'react-aria-pressable-style';
document.head.append(mark);

createRoot(document.getElementById('console')!).render(<Console />);
