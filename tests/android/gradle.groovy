/*
 * gradle.groovy SCRIPT BUILD TASK - evaluates a build script on doubles of the parts of Gradle and of Android's plugin that it uses, in
 * an app with the variants playDebug and playRelease and the build directory BUILD. Then TASK is run, with the tasks that finalize it.
 */
import org.codehaus.groovy.control.CompilerConfiguration

class Provider {
    def value
    def get() { value }
}

class Task {
    String name, group, description
    List conditions = [], actions = [], finalizers = [], command

    void onlyIf(String why, Closure condition) { conditions << condition }
    void doFirst(Closure action) { actions.add(0, action) }
    void commandLine(Iterable words) { command = words*.toString() }
    void finalizedBy(Task other) { finalizers << other }

    void apply(Closure closure) {
        closure.delegate = this
        closure.resolveStrategy = Closure.DELEGATE_FIRST
        closure(this)
    }

    void run() {
        if (conditions.every { it() }) {
            actions.each { apply(it) }
            println(name)
            if (command && new ProcessBuilder(command).inheritIO().start().waitFor() != 0)
                throw new IllegalStateException("${command} failed")
        }
        finalizers.each { it.run() }
    }
}

class Tasks {
    List<Task> all
    Map rules = [:]

    Task register(String name, Class type, Closure configures) {
        Task made = type.newInstance(name: name)
        made.apply(configures)
        all << made
        return made
    }

    def matching(Closure fits) { [configureEach: { Closure configures -> rules[fits] = configures }] }

    /* Android's plugin makes its tasks after the script has run. */
    void addLate(List<String> names) {
        names.each { name ->
            Task made = new Task(name: name)
            rules.each { fits, configures -> if (fits(made)) made.apply(configures) }
            all << made
        }
    }
}

class Components {
    List variants
    def selector() { [withBuildType: { type -> { variant -> variant.buildType == type } }] }
    void onVariants(Closure selects, Closure does) { variants.findAll { selects(it) }.each { does(it) } }
}

class Project {
    Tasks tasks = new Tasks(all: [])
    Components components
    def layout
    Class Exec = Task

    void androidComponents(Closure does) {
        does.delegate = components
        does.resolveStrategy = Closure.DELEGATE_FIRST
        does()
    }
}

File build = new File(args[1])
Closure at = { path -> new Provider(value: [asFile: new File(build, path)]) }
List variants = ['Debug', 'Release'].collect { type ->
    [name: 'play' + type, buildType: type.toLowerCase(),
     outputs: [[versionName: new Provider(value: '8.0.38'), versionCode: new Provider(value: 380)]]]
}
Project project = new Project(components: new Components(variants: variants), layout: [buildDirectory: [file: at, dir: at]])
CompilerConfiguration form = new CompilerConfiguration(scriptBaseClass: DelegatingScript.name)
DelegatingScript script = (DelegatingScript) new GroovyShell(this.class.classLoader, form).parse(new File(args[0]))
script.setDelegate(project)
script.run()
project.tasks.addLate(['assemblePlayDebug', 'bundlePlayDebug', 'assemblePlayRelease', 'bundlePlayRelease'])
project.tasks.all.find { it.name == args[2] }.run()
