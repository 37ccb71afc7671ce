# What the steps of the JVM share. Sourced after lib.sh.
# Nothing is written into the user's own repository of Maven.
export MAVEN_OPTS="-Dmaven.repo.local=$CARGO_TARGET_DIR/maven ${MAVEN_OPTS-}"

# Says, in cargo's words, how many tests the reports of Maven's last run hold. Maven has failed already if one of them did.
java_tests() {
    local counts
    counts=$(grep -ho '<testsuite [^>]*' java/*/target/surefire-reports/TEST-*.xml | awk '
        function of(name) { return match($0, " " name "=\"[0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : 0 }
        { tests += of("tests"); skipped += of("skipped") }
        END { print tests - skipped, skipped + 0 }')
    echo "test result: ok. ${counts% *} passed; 0 failed; ${counts#* } ignored ($1)"
    ((${counts% *} > 0)) || { echo "java: no test ran"; return 1; }
    rm -rf java/*/target/surefire-reports
}

# All tests of the Maven build, with more arguments for Maven, counted under a name.
java_verify() {
    rm -rf java/*/target/surefire-reports
    run mvn -q -B -f java/pom.xml verify "${@:2}"
    java_tests "$1"
}

# Where JDK 25 is; installs it if that is possible.
java_25() {
    local home
    for home in "${JAVA_25_HOME-}" /usr/lib/jvm/*25*; do
        if [ -n "$home" ] && [ -x "$home/bin/java" ]; then
            echo "$home"
            return
        fi
    done
    apt-get install -y -q --no-install-recommends openjdk-25-jdk-headless >&2 && ls -d /usr/lib/jvm/java-25-openjdk-*
}
