import './shell/style.css'
import './part/form.css'
import { render } from 'preact'
import { Frame } from './shell/frame.tsx'

render(<Frame />, document.querySelector('#app') as HTMLElement)
